// Carries out launched collectives: by the thread that waits for one, else by a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/polled_stream.h>
#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/task.h>
#include <tessera/dist/comm/work.h>

namespace tessera::dist {

class ProgressEngine;

/// A launched collective: the coroutine, and how it ended. Derived classes hold what the coroutine
/// refers to.
class Operation : public WorkState {
 public:
  /// `health` must live until the operation is done.
  Operation(std::shared_ptr<ProgressEngine> progress, Health& health)
      : progress_(std::move(progress)), health_(health) {}

  /// Set before the operation is submitted.
  Task task;
  std::vector<Ticket> after;  ///< of work that it comes after
  std::string name;           ///< in traces; empty while none runs

  bool wait_until(Time deadline) override;
  [[nodiscard]] bool done() const override { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::exception_ptr error() const override { return done() ? error_ : nullptr; }
  [[nodiscard]] std::chrono::nanoseconds duration() const override;
  [[nodiscard]] bool ended_well() const { return done() && error_ == nullptr; }

 protected:
  /// What comes before the coroutine's first step, and behind its last one.
  virtual void begin() {}
  virtual void end() {}
  /// Whether it must end well where it can, though its group has failed: see GroupCore.
  [[nodiscard]] virtual bool must_end_well() { return false; }
  /// Lets go of what the coroutine referred to, which is gone. `others_may_use` where it failed
  /// under way: other ranks may not know yet.
  virtual void release(bool others_may_use) noexcept = 0;

 private:
  friend class ProgressEngine;
  Task::Outcome advance();
  bool ends_all_the_same();
  /// True once all that it comes after is reached.
  bool may_begin();
  /// Whether nobody asks for it any more. Its ticket stands for what it comes after
  /// (core/device/hazards.h): memory of a device must not be taken for free before that, though
  /// nothing comes of the operation.
  bool may_be_dropped();
  void wait_for_devices() noexcept;
  void finish(std::exception_ptr error) noexcept;

  std::shared_ptr<ProgressEngine> progress_;
  Health& health_;
  bool begun_ = false;
  bool under_way_ = false;
  Time started_{};  ///< unset: it ended as soon as it began
  std::chrono::nanoseconds duration_{0};
  AsyncTraceRange trace_;
  std::exception_ptr error_;
  std::atomic<bool> done_{false};
};

/// A stream of operations, which are carried out one after another; different streams run side by
/// side.
class CollectiveStream final : public PolledStream {
 public:
  [[nodiscard]] static std::shared_ptr<CollectiveStream> make();
  /// The point behind `operation`, which was submitted last.
  [[nodiscard]] Ticket ticket_of(const std::shared_ptr<Operation>& operation);
  [[nodiscard]] bool reached(std::uint64_t number) override;
  void synchronize(std::uint64_t number) override;
  /// Lets go of all operations, of which none is under way any more. True when some had failed: the
  /// first error stays that of their tickets.
  [[nodiscard]] bool end();

 private:
  friend class ProgressEngine;
  [[nodiscard]] std::shared_ptr<Operation> operation_of(std::uint64_t number);

  std::deque<std::shared_ptr<Operation>> queue_;  ///< ProgressEngine's
  bool listed_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Operation>> asked_for_;  ///< by ticket, until reached
  std::uint64_t last_ = 0;
  std::uint64_t failed_from_ = 0;
  std::exception_ptr error_;
};

/// One per rank, shared by its communicators. The thread starts with the first operation that
/// nobody waits for at once.
class ProgressEngine {
 public:
  ProgressEngine() = default;
  ~ProgressEngine();
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  /// Queues an operation and lets it run as far as it gets without waiting. The stream must outlive
  /// its operations.
  void submit(const std::shared_ptr<CollectiveStream>& stream,
              const std::shared_ptr<Operation>& operation);
  /// Ends what is still queued in `stream` with `error`; later operations are unaffected.
  void cancel(const std::shared_ptr<CollectiveStream>& stream, const std::exception_ptr& error);
  /// Polls until `operation` is done; false when the deadline came first.
  bool drive(Operation& operation, Time deadline);

 private:
  struct Launch {
    std::shared_ptr<CollectiveStream> stream;
    std::shared_ptr<Operation> operation;
  };
  void enlist(Launch launch);
  void take_inbox();
  bool poll_all();
  bool poll_stream(CollectiveStream& stream);
  void retire(CollectiveStream& stream, std::exception_ptr error);
  void ensure_thread();
  [[nodiscard]] bool needed() const;
  void wake_if_needed();
  void run();
  void sleep_until_needed();

  std::mutex runner_;  ///< held while operations are advanced
  std::vector<std::shared_ptr<CollectiveStream>> streams_;
  std::atomic<int> waiting_{0};
  std::atomic<std::uint64_t> waits_{0};  ///< how often somebody began to wait

  std::mutex inbox_mutex_;
  std::vector<Launch> inbox_;
  std::atomic<bool> inbox_filled_{false};

  std::atomic<int> unfinished_{0};
  std::atomic<bool> asleep_{true};
  std::mutex sleep_mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stop_{false};
  std::once_flag thread_started_;
  std::thread thread_;
};

}  // namespace tessera::dist
