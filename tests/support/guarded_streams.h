// The streams of the guarded device: queues that run late, in an order drawn from a seed.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "support/vector_clock.h"

namespace tessera::test {

/// Not locked: the device is.
class GuardedStreams {
 public:
  void draw_from(std::uint64_t seed) { random_.seed(seed); }

  /// Puts `work` into the queue; knows what the stream and the host know. Sometimes runs some of
  /// what waits.
  Ticket push(const StreamId& stream, std::function<void()> work);
  /// What comes into the queue of `stream` from now on comes after `ticket`, and fails where that
  /// did if it `needs_success`.
  void wait(const StreamId& stream, const Ticket& ticket, bool needs_success);
  /// Runs what waits, in a drawn order, until `ticket` is reached. The host knows it then.
  void run_until(const Ticket& ticket);
  void run_all();
  /// Rethrows the error of work up to `ticket`.
  void rethrow(const Ticket& ticket) const;
  void forget_errors();

  /// Whether it is reached, as the host knows then; else, where somebody asks again and again, runs
  /// what waits until it is. Rethrows the error of work up to it.
  [[nodiscard]] bool reached(const Ticket& ticket);
  [[nodiscard]] Ticket last(const StreamId& stream);
  /// What work that is pushed to `stream` next knows; what the host does by its waits. Its threads
  /// are taken for one: what one of them found reached was ordered before all that any of them does
  /// later.
  [[nodiscard]] const VectorClock& clock_of(const StreamId& stream);
  [[nodiscard]] const VectorClock& clock_of_host() const { return host_; }
  /// Whether the host found `ticket` reached when it asked, or waited for it.
  [[nodiscard]] bool is_polled(const Ticket& ticket) const { return polled_.covers(ticket); }
  /// What the work before `ticket` knew, with itself.
  [[nodiscard]] const VectorClock& clock_at(const Ticket& ticket) const {
    return queues_.at(ticket.stream).clocks[ticket.number - 1];
  }
  /// That was as good as a wait.
  void count_as_waited(const Ticket& ticket);

 private:
  struct Item {
    std::function<void()> work;  ///< null: waits for `ticket`
    Ticket ticket;
    bool needs_success = false;
  };
  struct Queue {
    std::deque<Item> items;
    std::uint64_t pushed = 0;
    std::uint64_t done = 0;
    VectorClock clock;
    std::vector<VectorClock> clocks;  ///< by ticket, from number 1 on
    std::exception_ptr error;
    std::uint64_t failed_from = 0;  ///< the ticket of the work with the error
  };

  [[nodiscard]] std::vector<Queue*> ready();
  [[nodiscard]] bool done(const Ticket& ticket) const;
  [[nodiscard]] std::exception_ptr error_before(const Ticket& ticket) const;
  void end_waits(Queue& queue);
  bool run_one();
  void run(Queue& queue);

  std::map<StreamId, Queue> queues_;
  VectorClock host_;
  VectorClock polled_;  ///< host_, and what was reached when the host asked
  int asked_ = 0;       ///< how often a ticket was not reached since work came
  std::mt19937_64 random_{1};
};

}  // namespace tessera::test
