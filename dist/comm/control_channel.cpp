#include <tessera/dist/comm/control_channel.h>

#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/decorator.h>

namespace tessera::dist {
namespace {

class Controlled final : public CommDecorator {
 public:
  Controlled(std::shared_ptr<Communicator> data, std::shared_ptr<Communicator> control)
      : CommDecorator(std::move(data)), control_(std::move(control)) {}

  std::shared_ptr<Communicator> split(int color, int key, std::string name) override {
    auto control = control_->split(color, key, name);
    return with_control_channel(inner().split(color, key, std::move(name)), std::move(control));
  }
  /// The control channel tells the peers, whose watchdogs fail their data.
  void abort(std::exception_ptr cause) noexcept override {
    control_->abort(cause);
    inner().abort(std::move(cause));
  }
  std::shared_ptr<HeartbeatTable> heartbeat_table() override { return control_->heartbeat_table(); }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override { return part; }

 private:
  std::shared_ptr<Communicator> control_;
};

}  // namespace

std::shared_ptr<Communicator> with_control_channel(std::shared_ptr<Communicator> data,
                                                   std::shared_ptr<Communicator> control) {
  check(data->rank() == control->rank() && data->size() == control->size(),
        "control channel: not the data's ranks; got rank ", control->rank(), " of ",
        control->size(), ", expected rank ", data->rank(), " of ", data->size());
  return std::make_shared<Controlled>(std::move(data), std::move(control));
}

}  // namespace tessera::dist
