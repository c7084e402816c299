// Streams: queues of work in order. Events: points in them.
//
// A CPU stream is a worker thread that runs what it is given in order; the default stream runs
// everything at once on the caller's thread. How kernels on different streams wait for each other's
// data is in core/device/hazards.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <tessera/core/base/context.h>

namespace tessera {

class Stream;

namespace detail {
/// The worker stream that the calling thread's ops go to; null for the inline one.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Stream* worker_stream = nullptr;
}  // namespace detail

/// A point in a stream's queue, done once all work before it ran. Copyable; default-constructed it
/// is done already.
class Event {
 public:
  Event() = default;

  [[nodiscard]] bool done() const;
  /// Blocks until done; rethrows the error of the work before it, if any.
  void wait() const;
  /// Blocks until done and leaves the error to others.
  void wait_until_done() const noexcept;

 private:
  friend class Stream;
  struct State;
  std::shared_ptr<State> state_;
};

/// A queue of work. Work given to one stream runs in order; streams run beside each other.
///
/// Threading: any thread may launch; the order of launches is the order of work.
///
/// Errors: the first exception fails the stream. Work after it is dropped, and every wait for an
/// event after it rethrows it; if nobody waits, the stream's end logs it.
class Stream {
 public:
  /// A stream with a worker thread of its own, which inherits the caller's Context.
  static std::shared_ptr<Stream> make_worker(std::string name);
  /// The stream that ops of the calling thread go to; the inline one unless a scope changed it.
  static Stream& current();

  /// Runs what was launched, then ends. Not to be called by the stream's own work.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] bool is_inline() const { return inline_; }
  /// Unique in the process, also after the stream is gone.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// Runs `work` in order, on an inline stream before returning (and throws what it throws). The
  /// event is done after `work` ran and was destroyed.
  Event launch(std::function<void()> work);
  /// Work launched from now on begins after `event`, and fails with its error.
  void wait_for(const Event& event);
  /// Work launched from now on begins after `event`, whether the work before that failed or not.
  void wait_until_done(const Event& event);
  /// An event after all work launched so far.
  [[nodiscard]] Event record();
  /// Blocks until all work launched so far is done; rethrows its error.
  void synchronize() { record().wait(); }

 private:
  struct Failure;
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Event::State> event;
  };
  friend class Event;

  explicit Stream(bool inline_stream);
  void work_loop();
  void run(Item item);

  const bool inline_;
  const std::uint64_t id_;
  std::string name_;
  std::shared_ptr<Context> context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  std::shared_ptr<Failure> failure_;  ///< the worker's, until it has ended
  bool closing_ = false;
  std::thread worker_;
};

/// Makes `stream` the calling thread's current one until the scope ends.
class StreamScope {
 public:
  explicit StreamScope(Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream* previous_;
};

}  // namespace tessera
