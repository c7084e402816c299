#include <tessera/dist/comm/group_base.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/hazards.h>
#include <tessera/dist/comm/host_operand.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

/// The operands of a collective that its core cannot take as given.
struct HostOperands {
  HostOperands(const Collective& c, const Membership& group)
      : send(HostOperand::sent(c, group.rank, group.size())),
        receive(HostOperand::received(c, group.rank, group.size())) {}
  HostOperand send, receive;
};

/// The collective with its coroutine, which refers to it and to the core. What lies on a device, or
/// in uneven parts, is copied first and back at the end.
class Launched final : public Operation {
 public:
  Launched(std::shared_ptr<ProgressEngine> progress, Health& health, GroupCore& core,
           Collective&& c, const Membership& group)
      : Operation(std::move(progress), health), collective_(std::move(c)) {
    if (!takes_as_given(collective_)) [[unlikely]] {
      host_ = std::make_unique<HostOperands>(collective_, group);
      collective_.send = host_->send.get();
      collective_.receive = host_->receive.get();
    }
    task = core.start(collective_);
  }
  ~Launched() override { task = Task(); }  // before what it refers to
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;
  [[nodiscard]] const Collective& collective() const { return collective_; }

 protected:
  void begin() override {
    if (host_ != nullptr) {
      host_->send.fetch();
    }
  }
  void end() override {
    if (host_ != nullptr) {
      host_->receive.give_back();
    }
  }
  void release() noexcept override {
    collective_.send = collective_.receive = {};
    collective_.tree.reset();
    host_.reset();
  }

 private:
  Collective collective_;
  std::unique_ptr<HostOperands> host_;  ///< null where the core takes the operands as given
};

/// `nbytes` of an operand, as its storage counts them.
ByteRange bytes_of(const Operand& operand, std::size_t nbytes) {
  const auto first = static_cast<std::size_t>(operand.data() - operand.storage()->data());
  return {first, first + nbytes};
}

void add_tickets(const Operand& operand, std::size_t nbytes, bool writes,
                 std::vector<Ticket>& tickets) {
  if (nbytes > 0 && operand.storage() && operand.storage()->has_hazards()) [[unlikely]] {
    std::ranges::copy(tickets_before(*operand.storage(), writes, bytes_of(operand, nbytes)),
                      std::back_inserter(tickets));
  }
}

/// The operand, if other work may ask its storage what to wait for; most of what is known by
/// address alone is small, and a ticket would take as long as the message.
Operand kept_operand(const Operand& operand, std::size_t nbytes) {
  const bool kept = nbytes > 0 && operand.storage() && operand.storage()->keeps_memory();
  return kept ? operand : Operand();
}

void leave_ticket(const Ticket& ticket, const Operand& send, std::size_t sent,
                  const Operand& receive, std::size_t received) {
  if (send) {
    after_read(*send.storage(), ticket, bytes_of(send, sent));
  }
  if (receive) {
    after_write(*receive.storage(), ticket, bytes_of(receive, received));
    receive.storage()->bump_version();
  }
}

std::string trace_name(const Collective& c) {
  std::string name = to_string(c.kind);
  return c.label.empty() ? name : name.append(" ").append(c.label);
}

const std::shared_ptr<CollectiveStream>& in(
    std::map<int, std::shared_ptr<CollectiveStream>>& streams, int peer) {
  std::shared_ptr<CollectiveStream>& stream = streams[peer];
  if (stream == nullptr) {
    stream = CollectiveStream::make();
  }
  return stream;
}

}  // namespace

GroupBase::GroupBase(Membership membership, std::unique_ptr<GroupCore> core,
                     std::shared_ptr<Health> health, std::shared_ptr<ProgressEngine> progress)
    : membership_(std::move(membership)),
      core_(std::move(core)),
      health_(std::move(health)),
      progress_(std::move(progress)) {}

GroupBase::~GroupBase() {
  const auto gone = std::make_exception_ptr(CommError("launch: the communicator '" + name() +
                                                      "' was destroyed before its work was done"));
  const auto end = [&](const std::shared_ptr<CollectiveStream>& stream) {
    progress_->cancel(stream, gone);
    if (stream->end()) {
      keep(stream);
    }
  };
  end(collectives_);
  for (auto* streams : {&sends_, &receives_}) {
    std::ranges::for_each(*streams | std::views::values, end);
  }
}

const std::shared_ptr<CollectiveStream>& GroupBase::stream_of(const Collective& c) {
  if (c.kind == CollectiveKind::send) {
    return in(sends_, c.peer);
  }
  return c.kind == CollectiveKind::receive ? in(receives_, c.peer) : collectives_;
}

Work GroupBase::launch(Collective collective) {
  validate(collective, rank(), size());
  health_->require();
  collective.sequence = is_point_to_point(collective.kind) ? launched_ : ++launched_;
  const std::size_t sent = given_count(collective, rank(), size()) * size_of(collective.dtype);
  const std::size_t received = taken_count(collective, size()) * size_of(collective.dtype);
  const Operand send = kept_operand(collective.send, sent);
  const Operand receive = kept_operand(collective.receive, received);
  const std::shared_ptr<CollectiveStream>& stream = stream_of(collective);
  std::vector<Ticket> before;
  add_tickets(collective.send, sent, false, before);
  add_tickets(collective.receive, received, true, before);
  if (!collective.counts.empty()) {
    collective.count = std::ranges::max(collective.counts);
    if (std::ranges::count(collective.counts, collective.count) == size()) {
      collective.counts.clear();
    }
  }
  auto operation =
      std::make_shared<Launched>(progress_, *health_, *core_, std::move(collective), membership_);
  operation->after = std::move(before);
  if (tracing()) {
    operation->name = trace_name(operation->collective());
  }
  progress_->submit(stream, operation);
  if (send || receive) {
    leave_ticket(stream->ticket_of(operation), send, sent, receive, received);
  }
  return Work(std::move(operation));
}

}  // namespace tessera::dist
