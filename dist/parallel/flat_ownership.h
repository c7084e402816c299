// Which rank of a host updates what: ranges of one flat space in which all parameters lie.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/dist/parallel/communication_time.h>
#include <tessera/dist/parallel/fingerprint_exchange.h>
#include <tessera/dist/parallel/flat_memory.h>
#include <tessera/dist/parallel/optimizer_memory.h>
#include <tessera/dist/parallel/watched_model.h>
#include <tessera/nn/ownership.h>

namespace tessera::dist {

/// The ranks of each host share out all parameters, and every host does all of it. New values go
/// straight into the memory of the host's other ranks, where that can be reached.
class FlatOwnership final : public nn::Ownership {
 public:
  /// `watched` is told of updates. All must outlive this.
  FlatOwnership(std::shared_ptr<Communicator> comm, WatchedModel& watched, TimedWaits& waits);

  /// Moves the parameters of `buckets` into memory on `device`. Their tensors stay the same, and
  /// optimizer state goes along with those that lay here before. Collective.
  void lay_out(std::vector<Bucket> buckets, const Device& device);
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// The ranks of this host.
  [[nodiscard]] Communicator& host() const { return *host_; }
  /// What the host's rank `rank` owns of the flat space.
  [[nodiscard]] FlatRange part_of(int rank) const { return space().part_of(rank); }
  /// Whether the ranks train `slot` together.
  [[nodiscard]] bool keeps(const nn::Slot& slot) const { return slot.ownership.get() == this; }
  /// Whether all that it keeps of its model is among `parameters`.
  [[nodiscard]] bool lies_within(const std::vector<nn::Parameter>& parameters) const;
  /// Makes the optimizer state that it keeps whole on every rank, as where another one is to keep
  /// it. Collective.
  void complete_states() const { states_.complete(space()); }
  void set_buffers(std::vector<std::weak_ptr<nn::Slot>> buffers) { buffers_ = std::move(buffers); }

  [[nodiscard]] nn::ElementRange own_range(const nn::Slot& slot) const override;
  void assign_owner(const nn::Slot& slot) override;
  [[nodiscard]] Tensor make_state(const nn::Slot& slot, const Shape& shape,
                                  const Tensor& values) override;
  void gather_states() override { states_.gather(space()); }
  void all_gather_parameters(const Tensor& updated) override;
  void wait_for_parameters() override;
  void all_reduce_numbers(std::span<double> values) override;
  void begin_comparison(std::uint64_t fingerprint) override;
  void end_comparison(const std::function<nn::Facts()>& facts) override;
  [[nodiscard]] std::vector<nn::SlotPtr> buffers() const override;
  void all_reduce_bytes(std::span<std::uint8_t> bytes) override;

 private:
  [[nodiscard]] const BucketEntry* find(const nn::Slot& slot) const;
  [[nodiscard]] const BucketEntry& entry_of(const nn::Slot& slot) const;
  [[nodiscard]] nn::ElementRange own_range(const BucketEntry& entry) const;
  [[nodiscard]] FlatLocation location_of(const BucketEntry& entry) const;
  [[nodiscard]] FlatSpace space() const;

  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<Communicator> host_;
  WatchedModel& watched_;
  TimedWaits& waits_;
  Device device_;
  std::vector<Bucket> buckets_;
  std::vector<std::int64_t> borders_;
  FlatMemory parameters_;
  std::vector<std::byte*> peers_;  ///< the host's other ranks' `parameters_`, if it reaches all
  OptimizerMemory states_;
  FingerprintExchange step_;
  std::vector<std::weak_ptr<nn::Slot>> buffers_;
};

}  // namespace tessera::dist
