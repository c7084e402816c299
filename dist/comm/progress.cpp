#include <tessera/dist/comm/progress.h>

#include <algorithm>
#include <utility>

#include <tessera/dist/comm/backoff.h>

namespace tessera::dist {
namespace {

// Between polls without news the thread sleeps, so that it takes little from the compute beside it:
// for a quarter of the time without news so far, which is what news may come late by, here and for
// the ranks that wait for this one.
constexpr std::chrono::microseconds kShortestDoze{100};
constexpr std::chrono::microseconds kLongestDoze{4000};
// After so many dozes with nothing under way, or so long beside a thread that waits, it sleeps
// until it is needed. A doze takes some microseconds from the compute, and being woken as many from
// the launch, in vain where the launching thread then waits and does the work itself: so if
// somebody waited since it woke, it dozes on while more of that may come.
constexpr int kIdleDozes = 3;
constexpr int kIdleDozesAfterWaits = 30;
constexpr std::chrono::microseconds kLongWait{100'000};

}  // namespace

bool Operation::wait_until(Time deadline) {
  if (done()) {
    return true;
  }
  const TraceRange trace(name, "wait");
  return progress_->drive(*this, deadline);
}

std::chrono::nanoseconds Operation::duration() const {
  return done() ? duration_ : std::chrono::nanoseconds{0};
}

Task::Outcome Operation::advance() {
  const bool first = !std::exchange(begun_, true);
  if (first) {
    trace_ = AsyncTraceRange(name, "communication");
  }
  if (health_.failed()) {
    if (!may_be_dropped()) {
      return Task::Outcome::waiting;
    }
    if (!ends_all_the_same()) {
      finish(health_.cause());
    }
    return Task::Outcome::done;
  }
  try {
    if (!may_begin()) {
      return Task::Outcome::waiting;
    }
    const Task::Outcome outcome = task.advance();
    if (outcome == Task::Outcome::done) {
      end();
      finish(nullptr);
    } else if (started_ == Time{}) {  // what ends at once took less time than looking at the clock
      started_ = clock().now();
    }
    return outcome;
  } catch (...) {
    health_.fail(std::current_exception());
    finish(health_.cause());
    return Task::Outcome::done;
  }
}

/// Whether it is under way, must end well where it can, and does.
bool Operation::ends_all_the_same() {
  if (started_ == Time{} || !must_end_well()) {
    return false;
  }
  try {
    Task::Outcome outcome = Task::Outcome::moved;
    while (outcome == Task::Outcome::moved) {
      outcome = task.advance();
    }
    if (outcome != Task::Outcome::done) {
      return false;
    }
    end();
  } catch (...) {
    return false;  // the failure that came first counts
  }
  finish(nullptr);
  return true;
}

namespace {

bool is_of_device(const Ticket& ticket) {
  return !ticket.stream.device.is_cpu();
}

bool is_over(const Ticket& ticket) noexcept {
  try {
    return reached(ticket);
  } catch (...) {
    return true;
  }
}

}  // namespace

bool Operation::may_be_dropped() {
  std::erase_if(after, [](const Ticket& t) { return !is_of_device(t) || is_over(t); });
  return under_way_ || after.empty();
}

void Operation::wait_for_devices() noexcept {
  for (const Ticket& ticket : after) {
    try {
      if (is_of_device(ticket)) {
        synchronize(ticket);
      }
    } catch (...) {  // its error is that of others
    }
  }
}

bool Operation::may_begin() {
  if (under_way_) {
    return true;
  }
  while (!after.empty() && reached(after.back())) {
    after.pop_back();
  }
  under_way_ = after.empty();
  if (under_way_) {
    begin();
  }
  return under_way_;
}

void Operation::finish(std::exception_ptr error) noexcept {
  if (started_ != Time{}) {
    duration_ = clock().now() - started_;
  }
  trace_.end();
  error_ = std::move(error);
  task = Task();
  release(error_ != nullptr && under_way_);
  done_.store(true, std::memory_order_release);
}

std::shared_ptr<CollectiveStream> CollectiveStream::make() {
  auto stream = std::make_shared<CollectiveStream>();
  make_known(stream);
  return stream;
}

Ticket CollectiveStream::ticket_of(const std::shared_ptr<Operation>& operation) {
  const std::lock_guard lock(mutex_);
  if (operation->ended_well()) {
    return {};
  }
  while (!asked_for_.empty() && asked_for_.begin()->second->ended_well()) {
    asked_for_.erase(asked_for_.begin());
  }
  asked_for_[++last_] = operation;
  return {id(), last_};
}

std::shared_ptr<Operation> CollectiveStream::operation_of(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = asked_for_.find(number);
  return found == asked_for_.end() ? nullptr : found->second;
}

/// One that failed is kept: its error is for all who come.
bool CollectiveStream::reached(std::uint64_t number) {
  const std::shared_ptr<Operation> operation = operation_of(number);
  if (operation == nullptr) {
    const std::lock_guard lock(mutex_);
    if (error_ != nullptr && number >= failed_from_) {
      std::rethrow_exception(error_);
    }
    return true;
  }
  if (!operation->done()) {
    return false;
  }
  if (operation->error() != nullptr) {
    std::rethrow_exception(operation->error());
  }
  const std::lock_guard lock(mutex_);
  asked_for_.erase(number);
  return true;
}

void CollectiveStream::synchronize(std::uint64_t number) {
  if (const std::shared_ptr<Operation> operation = operation_of(number); operation != nullptr) {
    operation->wait_until(Time::max());
  }
  static_cast<void>(reached(number));
}

bool CollectiveStream::end() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, operation] : asked_for_) {
    if (error_ == nullptr && operation->error() != nullptr) {
      error_ = operation->error();
      failed_from_ = number;
    }
  }
  asked_for_.clear();
  return error_ != nullptr;
}

ProgressEngine::~ProgressEngine() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(sleep_mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressEngine::submit(const std::shared_ptr<CollectiveStream>& stream,
                            const std::shared_ptr<Operation>& operation) {
  if (runner_.try_lock()) {
    const std::lock_guard lock(runner_, std::adopt_lock);
    take_inbox();
    const bool is_first = stream->queue_.empty();
    if (is_first && operation->advance() == Task::Outcome::done) {
      return;  // so nobody else has to hear of it, which would take as long as a small message
    }
    unfinished_.fetch_add(1);
    enlist({stream, operation});
    if (!is_first) {
      poll_stream(*stream);
    }
  } else {  // somebody is in the middle of a sum: do not wait for it
    const std::lock_guard lock(inbox_mutex_);
    unfinished_.fetch_add(1);
    inbox_.push_back({stream, operation});
    inbox_filled_.store(true, std::memory_order_release);
  }
  if (!operation->done()) {
    ensure_thread();
  }
}

void ProgressEngine::cancel(const std::shared_ptr<CollectiveStream>& stream,
                            const std::exception_ptr& error) {
  const std::lock_guard lock(runner_);
  take_inbox();
  while (!stream->queue_.empty()) {
    retire(*stream, error);
  }
}

bool ProgressEngine::drive(Operation& operation, Time deadline) {
  waiting_.fetch_add(1);
  waits_.fetch_add(1);
  Backoff backoff;
  for (unsigned round = 1; !operation.done(); ++round) {
    bool moved = false;
    if (runner_.try_lock()) {
      const std::lock_guard lock(runner_, std::adopt_lock);
      take_inbox();
      moved = poll_all();
    }
    if (moved) {
      backoff.reset();
    } else {
      backoff.pause();
    }
    if (round % 32 == 0 && deadline != Time::max() && clock().now() >= deadline) {
      break;
    }
  }
  waiting_.fetch_sub(1);
  wake_if_needed();
  return operation.done();
}

void ProgressEngine::enlist(Launch launch) {
  if (!std::exchange(launch.stream->listed_, true)) {
    streams_.push_back(launch.stream);
  }
  launch.stream->queue_.push_back(std::move(launch.operation));
}

void ProgressEngine::take_inbox() {
  if (!inbox_filled_.load(std::memory_order_acquire)) {
    return;
  }
  const std::lock_guard lock(inbox_mutex_);
  for (Launch& launch : inbox_) {
    enlist(std::move(launch));
  }
  inbox_.clear();
  inbox_filled_.store(false, std::memory_order_relaxed);
}

void ProgressEngine::retire(CollectiveStream& stream, std::exception_ptr error) {
  const std::shared_ptr<Operation> operation = std::move(stream.queue_.front());
  stream.queue_.pop_front();
  if (!operation->done()) {
    operation->wait_for_devices();
    operation->finish(std::move(error));
  }
  unfinished_.fetch_sub(1);
}

/// Advances the stream's first operation, and the next ones as long as they end at once.
bool ProgressEngine::poll_stream(CollectiveStream& stream) {
  bool moved = false;
  while (!stream.queue_.empty()) {
    const Task::Outcome outcome = stream.queue_.front()->advance();
    moved = moved || outcome != Task::Outcome::waiting;
    if (outcome != Task::Outcome::done) {
      break;
    }
    retire(stream, nullptr);
  }
  return moved;
}

bool ProgressEngine::poll_all() {
  bool moved = false;
  for (const std::shared_ptr<CollectiveStream>& stream : streams_) {
    moved = poll_stream(*stream) || moved;
  }
  std::erase_if(streams_, [](const std::shared_ptr<CollectiveStream>& stream) {
    stream->listed_ = !stream->queue_.empty();
    return !stream->listed_;
  });
  return moved;
}

void ProgressEngine::ensure_thread() {
  std::call_once(thread_started_, [this] {
    thread_ = std::thread([this, context = Context::current_shared()] {
      const ContextScope scope(context);
      name_this_thread("communication");
      run();
    });
  });
  wake_if_needed();
}

/// A thread of this rank that waits polls by itself.
bool ProgressEngine::needed() const {
  return unfinished_.load() > 0 && waiting_.load() == 0;
}

void ProgressEngine::wake_if_needed() {
  if (asleep_.load() && needed()) {
    const std::lock_guard lock(sleep_mutex_);
    asleep_ = false;
    wake_.notify_one();
  }
}

void ProgressEngine::sleep_until_needed() {
  std::unique_lock lock(sleep_mutex_);
  asleep_ = true;
  wake_.wait(lock, [this] { return stop_ || !asleep_ || needed(); });
  asleep_ = false;
}

void ProgressEngine::run() {
  std::chrono::microseconds without_news{0};
  int idle = 0;
  std::uint64_t waits = 0;
  while (!stop_) {
    bool moved = false;
    if (needed() && runner_.try_lock()) {
      const std::lock_guard lock(runner_, std::adopt_lock);
      take_inbox();
      moved = poll_all();
    }
    idle = unfinished_.load() > 0 ? 0 : idle + 1;
    const int most_idle = waits_.load() == waits ? kIdleDozes : kIdleDozesAfterWaits;
    if (idle > most_idle || (without_news > kLongWait && waiting_.load() > 0)) {
      sleep_until_needed();
      idle = 0;
      waits = waits_.load();
      without_news = {};
    } else if (moved) {
      without_news = {};
    } else {
      const auto doze = std::clamp(without_news / (idle > 0 ? 1 : 4), kShortestDoze, kLongestDoze);
      std::this_thread::sleep_for(doze);
      without_news += doze;
    }
  }
}

}  // namespace tessera::dist
