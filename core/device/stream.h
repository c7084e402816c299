// Streams: queues of work in order. Events: points in them.
//
// A CPU stream is a worker thread that runs what it is given in order; the default stream runs
// everything at once on the caller's thread. Storage remembers the event of its last write and, per
// stream, of the last read since, so that kernels on different streams wait for each other exactly
// where data demands it and users write no synchronisation.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/context.h>

namespace tessera {

class Stream;

/// A point in a stream's queue, done once all work before it ran. Copyable; default-constructed it
/// is done already.
class Event {
 public:
  Event() = default;

  [[nodiscard]] bool done() const;
  /// Blocks until done; rethrows the error of the work before it, if any.
  void wait() const;

 private:
  friend class Stream;
  struct State;
  std::shared_ptr<State> state_;
};

/// A queue of work. Work given to one stream runs in order; streams run beside each other.
///
/// Threading: any thread may launch; the order of launches is the order of work.
class Stream {
 public:
  /// A stream with a worker thread of its own, which inherits the caller's Context.
  static std::shared_ptr<Stream> make_worker(std::string name);
  /// The stream that ops of the calling thread go to; the inline one unless a scope changed it.
  static Stream& current();

  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] bool is_inline() const { return inline_; }
  /// Runs `work` in order, on an inline stream before returning. An exception is kept and rethrown
  /// by every later wait for an event of this stream; work after it is dropped.
  void launch(std::function<void()> work);
  /// Work launched from now on begins after `event`.
  void wait_for(const Event& event);
  /// An event after all work launched so far.
  [[nodiscard]] Event record();
  /// Blocks until all work launched so far is done; rethrows its error.
  void synchronize() { record().wait(); }

 private:
  explicit Stream(bool inline_stream) : inline_(inline_stream) {}
  void work_loop();

  const bool inline_;
  std::string name_;
  std::shared_ptr<Context> context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::exception_ptr error_;
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

class Storage;

/// The events that order access to one storage. See Note [Hazards] in stream.cpp.
struct StorageSync {
  struct Read {
    Stream* stream;
    Event event;
  };
  Event last_write;
  Stream* writer = nullptr;
  std::vector<Read> reads;  ///< since the last write, the newest of each stream
};

/// Makes `stream` wait for what it must before reading or writing `storage`.
void before_read(Stream& stream, Storage& storage);
void before_write(Stream& stream, Storage& storage);
/// Notes that `stream` was given work that reads or writes `storage`.
void after_read(Stream& stream, Storage& storage, const Event& event);
void after_write(Stream& stream, Storage& storage, const Event& event);
/// Blocks the host until `storage` may be read, or freed.
void wait_until_readable(Storage& storage);
void wait_until_unused(Storage& storage);

}  // namespace tessera
