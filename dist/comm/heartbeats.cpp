#include <tessera/dist/comm/heartbeats.h>

namespace tessera::dist {

Heartbeats::Heartbeats(const HeartbeatTable& table)
    : table_(table), heartbeats_(static_cast<std::size_t>(table.size())) {}

void Heartbeats::listen(Time now) {
  for (int rank = 0; rank < table_.size(); ++rank) {
    Heartbeat& heartbeat = heartbeats_[static_cast<std::size_t>(rank)];
    const std::uint64_t beats = table_.cell(rank).beats.load(std::memory_order_relaxed);
    if (beats != heartbeat.beats || heartbeat.seen == Time{}) {
      heartbeat = {beats, now};
    }
  }
}

Duration Heartbeats::silence(int rank, Time now) const {
  const Heartbeat& heartbeat = heartbeats_[static_cast<std::size_t>(rank)];
  return heartbeat.seen == Time{} ? Duration{} : now - heartbeat.seen;
}

void Heartbeats::forgive(Time now) {
  for (Heartbeat& heartbeat : heartbeats_) {
    heartbeat.seen = now;
  }
}

}  // namespace tessera::dist
