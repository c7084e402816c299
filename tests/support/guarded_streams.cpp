#include "support/guarded_streams.h"

#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::test {
namespace {

constexpr int kPatience = 64;  // who asks so often waits for an answer

}  // namespace

Ticket GuardedStreams::push(const StreamId& stream, std::function<void()> work) {
  Queue& queue = queues_[stream];
  asked_ = 0;
  const Ticket ticket{stream, ++queue.pushed};
  queue.clock.join(polled_);
  queue.clock.join(ticket);
  queue.clocks.push_back(queue.clock);
  queue.items.push_back({std::move(work), ticket});
  for (std::uint64_t runs = random_() % 4; runs > 2; --runs) {
    run_one();
  }
  return ticket;
}

void GuardedStreams::wait(const StreamId& stream, const Ticket& ticket, bool needs_success) {
  Queue& queue = queues_[stream];
  queue.clock.join(clock_at(ticket));
  queue.items.push_back({nullptr, ticket, needs_success});
}

bool GuardedStreams::done(const Ticket& ticket) const {
  const auto found = queues_.find(ticket.stream);
  return found != queues_.end() && found->second.done >= ticket.number;
}

std::exception_ptr GuardedStreams::error_before(const Ticket& ticket) const {
  const Queue& queue = queues_.at(ticket.stream);
  return ticket.number >= queue.failed_from ? queue.error : nullptr;
}

bool GuardedStreams::reached(const Ticket& ticket) {
  if (!done(ticket)) {
    if (++asked_ > kPatience) {
      while (!done(ticket) && run_one()) {
      }
    }
    return false;
  }
  rethrow(ticket);
  polled_.join(clock_at(ticket));
  return true;
}

Ticket GuardedStreams::last(const StreamId& stream) {
  return {stream, queues_[stream].pushed};
}

const VectorClock& GuardedStreams::clock_of(const StreamId& stream) {
  VectorClock& clock = queues_[stream].clock;
  clock.join(polled_);
  return clock;
}

void GuardedStreams::end_waits(Queue& queue) {
  while (!queue.items.empty() && !queue.items.front().work && done(queue.items.front().ticket)) {
    const Item& item = queue.items.front();
    const std::exception_ptr error = item.needs_success ? error_before(item.ticket) : nullptr;
    if (error != nullptr && queue.error == nullptr) {
      queue.error = error;
      queue.failed_from = queue.done + 1;
    }
    queue.items.pop_front();
  }
}

std::vector<GuardedStreams::Queue*> GuardedStreams::ready() {
  std::vector<Queue*> queues;
  for (auto& [stream, queue] : queues_) {
    end_waits(queue);
    if (!queue.items.empty() && queue.items.front().work) {
      queues.push_back(&queue);
    }
  }
  return queues;
}

void GuardedStreams::run(Queue& queue) {
  const Item item = std::move(queue.items.front());
  queue.items.pop_front();
  if (queue.error == nullptr) {
    try {
      item.work();
    } catch (...) {
      queue.error = std::current_exception();
      queue.failed_from = item.ticket.number;
    }
  }
  queue.done = item.ticket.number;
}

bool GuardedStreams::run_one() {
  const std::vector<Queue*> queues = ready();
  if (!queues.empty()) {
    run(*queues[random_() % queues.size()]);
  }
  return !queues.empty();
}

void GuardedStreams::run_until(const Ticket& ticket) {
  while (!done(ticket)) {
    check<InternalError>(run_one(), "guarded device: streams wait for each other");
  }
  count_as_waited(ticket);
}

void GuardedStreams::count_as_waited(const Ticket& ticket) {
  host_.join(clock_at(ticket));
  polled_.join(clock_at(ticket));
}

void GuardedStreams::run_all() {
  while (run_one()) {
  }
}

void GuardedStreams::rethrow(const Ticket& ticket) const {
  if (const std::exception_ptr error = error_before(ticket); error != nullptr) {
    std::rethrow_exception(error);
  }
}

void GuardedStreams::forget_errors() {
  for (auto& [stream, queue] : queues_) {
    queue.error = nullptr;
  }
}

}  // namespace tessera::test
