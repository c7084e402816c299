#include <tessera/dist/comm/group_base.h>

#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

/// The collective with its coroutine, which refers to it and to the core.
class Launched final : public Operation {
 public:
  Launched(std::shared_ptr<Progress> progress, Health& health, GroupCore& core, Collective c)
      : Operation(std::move(progress), health), collective_(std::move(c)) {
    task = core.start(collective_);
  }
  ~Launched() override { task = Task(); }  // before what it refers to
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;
  [[nodiscard]] const Collective& collective() const { return collective_; }

 protected:
  void release() noexcept override {
    collective_.tree.reset();
    collective_.keep_alive.reset();
  }

 private:
  Collective collective_;
};

std::string trace_name(const Collective& c) {
  std::string name = to_string(c.kind);
  return c.label.empty() ? name : name.append(" ").append(c.label);
}

const std::shared_ptr<Lane>& in(std::map<int, std::shared_ptr<Lane>>& lanes, int peer) {
  std::shared_ptr<Lane>& lane = lanes[peer];
  if (lane == nullptr) {
    lane = std::make_shared<Lane>();
  }
  return lane;
}

}  // namespace

GroupBase::GroupBase(Membership membership, std::unique_ptr<GroupCore> core,
                     std::shared_ptr<Health> health, std::shared_ptr<Progress> progress)
    : membership_(std::move(membership)),
      core_(std::move(core)),
      health_(std::move(health)),
      progress_(std::move(progress)) {}

GroupBase::~GroupBase() {
  const auto gone = std::make_exception_ptr(CommError("launch: the communicator '" + name() +
                                                      "' was destroyed before its work was done"));
  progress_->cancel(collectives_, gone);
  for (auto* lanes : {&sends_, &receives_}) {
    for (const auto& [peer, lane] : *lanes) {
      progress_->cancel(lane, gone);
    }
  }
}

const std::shared_ptr<Lane>& GroupBase::lane_of(const Collective& c) {
  if (c.kind == CollectiveKind::send) {
    return in(sends_, c.peer);
  }
  return c.kind == CollectiveKind::receive ? in(receives_, c.peer) : collectives_;
}

Work GroupBase::launch(Collective collective) {
  validate(collective, rank(), size());
  health_->require();
  collective.sequence = is_point_to_point(collective.kind) ? launched_ : ++launched_;
  auto operation = std::make_shared<Launched>(progress_, *health_, *core_, std::move(collective));
  if (tracing()) {
    operation->name = trace_name(operation->collective());
  }
  progress_->submit(lane_of(operation->collective()), operation);
  return Work(std::move(operation));
}

}  // namespace tessera::dist
