#include <tessera/dist/comm/shared/control_block.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kPage = 4096;

/// Hands out consecutive page-aligned areas.
class Carver {
 public:
  explicit Carver(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::size_t n) {
    std::byte* area = memory_ + offset_;
    offset_ += (n * sizeof(T) + kPage - 1) / kPage * kPage;
    return reinterpret_cast<T*>(area);
  }
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::byte* memory_;
  std::size_t offset_ = 0;
};

}  // namespace

bool BarrierEnd::decide(std::uint64_t number, bool well) {
  std::uint64_t last = last_.load(std::memory_order_acquire);
  while (last / 2 < number) {
    if (last_.compare_exchange_weak(last, number * 2 + (well ? 0 : 1), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      return well;
    }
  }
  return last / 2 > number || last % 2 == 0;  // who gave a later one up came out of this one well
}

ControlBlock::ControlBlock(std::byte* memory, int members, int ranks)
    : base_(memory), members_(members) {
  carve(memory, members, ranks);
}

std::size_t ControlBlock::carve(std::byte* memory, int members, int ranks) {
  const auto m = static_cast<std::size_t>(members);
  Carver carver(memory);
  carver.take<FailureRecord>(1);
  heartbeats_ = carver.take<HeartbeatCell>(static_cast<std::size_t>(ranks));
  barrier_end_ = carver.take<BarrierEnd>(1);
  flags_ = carver.take<Flag>(m);
  descriptors_ = carver.take<Descriptor>(m * 2);
  staging_ = carver.take<std::byte>(m * 2 * kStagingBytes);
  mail_ = carver.take<Mailbox>(m * m);
  return carver.offset();
}

std::size_t ControlBlock::bytes(int members, int ranks) {
  return ControlBlock().carve(nullptr, members, ranks);
}

bool ControlBlock::all_at(std::uint64_t phase) const {
  for (int member = 0; member < members_; ++member) {
    if (flag(member).phase.load(std::memory_order_acquire) < phase) {
      return false;
    }
  }
  return true;
}

}  // namespace tessera::dist
