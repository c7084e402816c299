// Vector clocks (Fidge, 1988; Mattern, 1989): what is known to have happened before a moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include <tessera/core/device/stream.h>

namespace tessera::test {

/// For each stream, the number of the last ticket that comes before.
class VectorClock {
 public:
  [[nodiscard]] bool covers(const Ticket& ticket) const {
    const auto found = numbers_.find(ticket.stream);
    return !ticket || (found != numbers_.end() && found->second >= ticket.number);
  }
  void join(const Ticket& ticket) {
    std::uint64_t& number = numbers_[ticket.stream];
    number = std::max(number, ticket.number);
  }
  void join(const VectorClock& other) {
    for (const auto& [stream, number] : other.numbers_) {
      join(Ticket{stream, number});
    }
  }

 private:
  std::map<StreamId, std::uint64_t> numbers_;
};

}  // namespace tessera::test
