// The thread of a rank that looks at what is watched.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/dist/comm/watch.h>

namespace tessera::dist {

/// One per rank. Looks at every watch several times within the deadline.
class WatchThread {
 public:
  explicit WatchThread(std::chrono::milliseconds deadline);
  ~WatchThread();
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }
  void add(std::shared_ptr<Watch> watch);
  /// This rank has let go of the group of `watch`, whose `table` goes on to be carried for others.
  void remove(const std::shared_ptr<Watch>& watch, std::shared_ptr<HeartbeatTable> table);

 private:
  void run();
  void look(Time now);
  void carry();

  std::chrono::milliseconds deadline_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::vector<std::shared_ptr<HeartbeatTable>> carried_;  ///< of groups that this rank let go of
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tessera::dist
