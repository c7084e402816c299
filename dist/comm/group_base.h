// What communicators whose ranks share memory have in common: validation, streams, failure.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/host_operand.h>
#include <tessera/dist/comm/membership.h>
#include <tessera/dist/comm/progress.h>

namespace tessera::dist {

/// What carries out collectives. A communicator that goes first ends those under way.
class GroupCore {
 public:
  virtual ~GroupCore() = default;
  /// What it does with operands that are known by address alone.
  [[nodiscard]] virtual Addresses addresses() const noexcept = 0;
  virtual Task start(const Collective&) = 0;
  /// Whether another rank may come out of the collective well and rely on that all do: a rank asks
  /// that has heard of a failure while it was under way, and gives it up where the answer is no. So
  /// barriers end. What moves data fails: a rank that heard first may be writing to its memory
  /// again.
  virtual bool must_end_well(const Collective&) = 0;
};

/// A communicator that carries out its collectives as coroutines of a GroupCore.
class GroupBase : public Communicator {
 public:
  ~GroupBase() override;

  [[nodiscard]] int rank() const override { return membership_.rank; }
  [[nodiscard]] int size() const override { return membership_.size(); }
  [[nodiscard]] const std::string& name() const override { return membership_.name; }
  [[nodiscard]] int world_rank(int peer) const override { return membership_.world_rank(peer); }
  Work start(Collective&&) override;
  void abort(std::exception_ptr cause) noexcept override { health_->fail(cause); }

  [[nodiscard]] const std::shared_ptr<Health>& health() const { return health_; }

 protected:
  GroupBase(Membership membership, std::unique_ptr<GroupCore> core, std::shared_ptr<Health> health,
            std::shared_ptr<ProgressEngine> progress);
  [[nodiscard]] const std::shared_ptr<ProgressEngine>& progress() const { return progress_; }

 private:
  const std::shared_ptr<CollectiveStream>& stream_of(const Collective&);

  Membership membership_;
  std::unique_ptr<GroupCore> core_;
  std::shared_ptr<Health> health_;
  std::shared_ptr<ProgressEngine> progress_;
  std::shared_ptr<CollectiveStream> collectives_ = CollectiveStream::make();
  std::map<int, std::shared_ptr<CollectiveStream>> sends_;
  std::map<int, std::shared_ptr<CollectiveStream>> receives_;
  std::uint64_t launched_ = 0;
};

}  // namespace tessera::dist
