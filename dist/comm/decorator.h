// A communicator around another one: the base of recorder, watchdog and the like.
#pragma once

#include <memory>
#include <utility>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Passes everything on. Decorators override what they are about, and `wrap` their like around
/// the groups that a split makes.
class CommDecorator : public Communicator {
 public:
  explicit CommDecorator(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  [[nodiscard]] const std::string& name() const override { return inner_->name(); }
  [[nodiscard]] int world_rank(int peer) const override { return inner_->world_rank(peer); }
  [[nodiscard]] std::string transport(int peer) const override { return inner_->transport(peer); }
  [[nodiscard]] std::string host(int peer) const override { return inner_->host(peer); }
  Work start(Collective&& c) override { return inner_->start(std::move(c)); }
  CommBuffer allocate(std::size_t nbytes) override { return inner_->allocate(nbytes); }
  std::shared_ptr<Communicator> split(int color, int key, std::string name) override {
    return wrap(inner_->split(color, key, std::move(name)));
  }
  void abort(std::exception_ptr cause) noexcept override { inner_->abort(std::move(cause)); }
  std::shared_ptr<HeartbeatTable> heartbeat_table() override { return inner_->heartbeat_table(); }

 protected:
  [[nodiscard]] Communicator& inner() const { return *inner_; }
  virtual std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) = 0;

 private:
  std::shared_ptr<Communicator> inner_;
};

}  // namespace tessera::dist
