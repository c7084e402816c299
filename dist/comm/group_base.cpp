#include <tessera/dist/comm/group_base.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/hazards.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

/// The operands of a collective that its core cannot take as given.
struct HostOperands {
  HostOperands(const Collective& c, const Membership& group, Addresses addresses)
      : send(HostOperand::sent(c, group.rank, group.size(), addresses)),
        receive(HostOperand::received(c, group.rank, group.size(), addresses)) {}
  HostOperand send, receive;
};

/// Operands of a collective that failed while it was under way: where ranks share memory, another
/// one may be about to read or write them, and what lies there next must not see that.
void keep_for_good(Collective&& collective, std::unique_ptr<HostOperands> host) {
  struct Kept {
    std::mutex mutex;
    std::vector<std::pair<Collective, std::unique_ptr<HostOperands>>> operands;
  };
  static auto& kept = *new Kept;  // outlives the threads of other ranks
  const std::lock_guard lock(kept.mutex);
  kept.operands.emplace_back(std::move(collective), std::move(host));
}

/// The collective with its coroutine, which refers to it and to the core. What the core cannot take
/// as given is copied first and back at the end.
class Launched final : public Operation {
 public:
  Launched(std::shared_ptr<ProgressEngine> progress, Health& health, GroupCore& core,
           Collective&& c, const Membership& group)
      : Operation(std::move(progress), health), core_(core), collective_(std::move(c)) {
    if (!takes_as_given(collective_, core.addresses())) [[unlikely]] {
      host_ = std::make_unique<HostOperands>(collective_, group, core.addresses());
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
  [[nodiscard]] bool must_end_well() override { return core_.must_end_well(collective_); }
  void release(bool others_may_use) noexcept override {
    if (others_may_use) {
      keep_for_good(std::move(collective_), std::move(host_));
    }
    collective_.send = collective_.receive = {};
    collective_.tree.reset();
    host_.reset();
  }

 private:
  GroupCore& core_;
  Collective collective_;
  std::unique_ptr<HostOperands> host_;  ///< null where the core takes the operands as given
};

/// The bytes of a storage that a collective reads, or writes; none of memory that is known by its
/// address alone, which no other work can ask what to wait for.
struct Access {
  Ref<Storage> storage;
  ByteRange bytes;

  Access() = default;
  Access(const Operand& operand, std::size_t nbytes) {
    if (nbytes > 0) {
      storage = operand.storage();
      bytes.first = static_cast<std::size_t>(operand.data() - storage->data());
      bytes.last = bytes.first + nbytes;
    }
  }
  void add_tickets(bool writes, std::vector<Ticket>& tickets) const {
    if (storage && storage->has_hazards()) {
      std::ranges::copy(tickets_before(*storage, writes, bytes), std::back_inserter(tickets));
    }
  }
};

/// What a collective reads and writes.
class Accesses {
 public:
  Accesses(const Collective& c, const Membership& group) {
    if (c.send.storage()) {
      read_ = Access(c.send, given_count(c, group.rank, group.size()) * size_of(c.dtype));
    }
    if (c.receive.storage()) {
      written_ = Access(c.receive, taken_count(c, group.size()) * size_of(c.dtype));
    }
  }
  [[nodiscard]] bool any() const noexcept { return read_.storage || written_.storage; }
  [[nodiscard]] std::vector<Ticket> tickets() const {
    std::vector<Ticket> found;
    read_.add_tickets(false, found);
    written_.add_tickets(true, found);
    return found;
  }
  /// Leaves the ticket of the collective to whoever comes after it.
  void leave(const Ticket& ticket) const {
    if (read_.storage) {
      after_read(*read_.storage, ticket, read_.bytes);
    }
    if (written_.storage) {
      after_write(*written_.storage, ticket, written_.bytes);
      written_.storage->bump_version();
    }
  }

 private:
  Access read_, written_;
};

/// Uneven parts have the largest as their count; without counts, if they are even after all.
void settle_counts(Collective& c) {
  if (!c.counts.empty()) {
    c.count = std::ranges::max(c.counts);
    if (std::ranges::count(c.counts, c.count) == std::ssize(c.counts)) {
      c.counts.clear();
    }
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

Work GroupBase::start(Collective&& collective) {
  health_->require();
  const std::shared_ptr<CollectiveStream>& stream = stream_of(collective);
  const Accesses accesses(collective, membership_);
  std::vector<Ticket> before = accesses.tickets();
  const bool counts = !is_point_to_point(collective.kind);
  collective.sequence = launched_ + (counts ? 1 : 0);
  settle_counts(collective);
  auto operation =
      std::make_shared<Launched>(progress_, *health_, *core_, std::move(collective), membership_);
  operation->after = std::move(before);
  launched_ += counts ? 1 : 0;
  if (tracing()) {
    operation->name = trace_name(operation->collective());
  }
  try {
    progress_->submit(stream, operation);
    if (accesses.any()) {
      accesses.leave(stream->ticket_of(operation));
    }
  } catch (...) {  // no memory, no thread: the others count on it
    health_->fail(std::current_exception());
    throw;
  }
  return Work(std::move(operation));
}

}  // namespace tessera::dist
