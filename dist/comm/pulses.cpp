#include <tessera/dist/comm/pulses.h>

namespace tessera::dist {

Pulses::Pulses(const StatusBoard& board)
    : board_(board), pulses_(static_cast<std::size_t>(board.size())) {}

void Pulses::listen(Time now) {
  for (int rank = 0; rank < board_.size(); ++rank) {
    Pulse& pulse = pulses_[static_cast<std::size_t>(rank)];
    const std::uint64_t beats = board_.cell(rank).beats.load(std::memory_order_relaxed);
    if (beats != pulse.beats || pulse.seen == Time{}) {
      pulse = {beats, now};
    }
  }
}

Duration Pulses::silence(int rank, Time now) const {
  const Pulse& pulse = pulses_[static_cast<std::size_t>(rank)];
  return pulse.seen == Time{} ? Duration{} : now - pulse.seen;
}

void Pulses::forgive(Time now) {
  for (Pulse& pulse : pulses_) {
    pulse.seen = now;
  }
}

}  // namespace tessera::dist
