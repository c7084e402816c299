// Communication alone: the collectives of a step, once more, with nothing between them.
#pragma once

#include <memory>
#include <vector>

#include <tessera/dist/comm/decorator.h>

namespace tessera::bench {

/// Notes every collective of a group and of the groups split from it.
class Replay final : public dist::CommDecorator {
 public:
  explicit Replay(std::shared_ptr<dist::Communicator> inner)
      : Replay(std::move(inner), std::make_shared<std::vector<Call>>()) {}

  dist::Work start(dist::Collective&& c) override;

  /// Forgets what was noted so far.
  void clear() { calls_->clear(); }
  /// Launches what was noted, in order, on memory of its own where the memory then was temporary,
  /// and waits for all of it. All ranks must have noted the same.
  void again();

 protected:
  std::shared_ptr<dist::Communicator> wrap(std::shared_ptr<dist::Communicator> part) override;

 private:
  struct Call {
    std::shared_ptr<dist::Communicator> comm;
    dist::Collective collective;
    std::shared_ptr<std::vector<std::byte>> send;
    std::shared_ptr<std::vector<std::byte>> receive;
  };
  Replay(std::shared_ptr<dist::Communicator> inner, std::shared_ptr<std::vector<Call>> calls);

  std::shared_ptr<dist::Communicator> group_;
  std::shared_ptr<std::vector<Call>> calls_;
};

}  // namespace tessera::bench
