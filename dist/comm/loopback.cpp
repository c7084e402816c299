#include <tessera/dist/comm/loopback.h>

#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/dist/comm/anonymous_memory.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/dist/comm/group_base.h>
#include <tessera/dist/comm/shared/shared_group.h>
#include <tessera/dist/comm/split_group.h>
#include <tessera/dist/comm/watchdog.h>

namespace tessera::dist {
namespace {

/// The memory of all ranks of one allocation, of which each rank knows where the others' lies: it
/// lives as long as one of them needs its own.
using Allocation = std::vector<std::shared_ptr<const void>>;

/// What the ranks of a group have in common.
class Rendezvous {
 public:
  explicit Rendezvous(int size)
      : memory_(anonymous_memory(ControlBlock::bytes(size, size))),
        control_(memory_.data, size, size) {
    if (size > 1) {  // a lone rank stages nothing, so that it takes no pages
      memory_.owner =
          counted(std::move(memory_.owner), memory_.nbytes, MemoryCategory::communication);
    }
  }

  [[nodiscard]] const ControlBlock& control() const { return control_; }

  /// The group of `color` in the split number `split`, made by whoever comes first.
  std::shared_ptr<Rendezvous> child(std::uint64_t split, int color, int size) {
    const std::lock_guard lock(mutex_);
    return of_first(children_[{split, color}], size);
  }
  /// The allocation of this number, made by whoever comes first.
  std::shared_ptr<Allocation> allocation(std::uint64_t number, int size) {
    const std::lock_guard lock(mutex_);
    return of_first(allocations_[number], static_cast<std::size_t>(size));
  }

 private:
  template <class T, class Size>
  static std::shared_ptr<T> of_first(std::weak_ptr<T>& known, Size size) {
    std::shared_ptr<T> common = known.lock();
    if (common == nullptr) {
      known = common = std::make_shared<T>(size);
    }
    return common;
  }

  CommBuffer memory_;
  ControlBlock control_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, int>, std::weak_ptr<Rendezvous>> children_;
  std::map<std::uint64_t, std::weak_ptr<Allocation>> allocations_;
};

/// A world of `size` ranks.
Membership whole_world(int rank, int size) {
  Membership world{"world", rank, std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(world.world_ranks.begin(), world.world_ranks.end(), 0);
  return world;
}

std::shared_ptr<const AddressSpace> addresses_of(bool direct) {
  if (direct) {
    return std::make_shared<OneProcess>();
  }
  return std::make_shared<NothingShared>();
}

class LoopbackCommunicator final : public GroupBase {
 public:
  LoopbackCommunicator(std::shared_ptr<Rendezvous> rendezvous, const Membership& members,
                       std::shared_ptr<Health> parent,
                       std::shared_ptr<ProgressEngine> shared_progress, LoopbackOptions options)
      : GroupBase(members,
                  std::make_unique<SharedGroup>(rendezvous->control(), members,
                                                addresses_of(options.direct), rendezvous),
                  std::make_shared<Health>(rendezvous->control().failure(), members.rank,
                                           std::move(parent), rendezvous),
                  std::move(shared_progress)),
        table_(std::make_shared<HeartbeatTable>(&rendezvous->control().heartbeat(0),
                                                rendezvous->control().failure(), rank(), size(),
                                                rendezvous)),
        rendezvous_(std::move(rendezvous)),
        options_(options) {}

  [[nodiscard]] std::string transport(int peer) const override {
    return peer == rank() ? "self" : "thread";
  }
  [[nodiscard]] std::string host(int) const override { return host_name(); }
  [[nodiscard]] std::shared_ptr<HeartbeatTable> heartbeat_table() override { return table_; }

  CommBuffer allocate(std::size_t nbytes) override {
    agree_on_size(*this, nbytes);
    CommBuffer buffer = anonymous_memory(nbytes);
    if (options_.direct) {
      const auto mine = reinterpret_cast<std::int64_t>(buffer.data);
      std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
      const auto owners = rendezvous_->allocation(allocations_++, size());
      (*owners)[static_cast<std::size_t>(rank())] = std::move(buffer.owner);
      all_gather<std::int64_t>(*this, std::span(&mine, 1), std::span(all), "allocate").wait();
      for (const std::int64_t address : all) {
        buffer.peers.push_back(reinterpret_cast<std::byte*>(address));
      }
      buffer.owner = owners;
    }
    return buffer;
  }

  std::shared_ptr<Communicator> split(int color, int key, std::string name) override {
    Membership part = agree_on_split(*this, color, key);
    part.name = std::move(name);
    auto rendezvous = rendezvous_->child(splits_++, color, part.size());
    auto group = std::make_shared<LoopbackCommunicator>(std::move(rendezvous), part, health(),
                                                        progress(), options_);
    // Until everyone has joined, the rendezvous lives by those who have.
    barrier_on(*group);
    return group;
  }

 private:
  static void barrier_on(Communicator& group) { group.launch({}).wait(); }

  std::shared_ptr<HeartbeatTable> table_;
  std::shared_ptr<Rendezvous> rendezvous_;
  LoopbackOptions options_;
  std::uint64_t splits_ = 0;
  std::uint64_t allocations_ = 0;
};

std::shared_ptr<Context> context_of(int rank, int size, std::uint64_t seed) {
  auto context = std::make_shared<Context>();
  context->rank = rank;
  context->world_size = size;
  context->seed = seed;
  if (size > 1) {
    context->log_prefix = detail::concat("[rank ", rank, "] ");
  }
  return context;
}

/// The first exception of any thread.
class FirstFailure {
 public:
  void record(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
    }
  }
  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> make_loopback(int size, LoopbackOptions options) {
  check(size >= 1, "loopback: too few ranks; got ", size, ", expected at least 1");
  const auto rendezvous = std::make_shared<Rendezvous>(size);
  std::vector<std::shared_ptr<Communicator>> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(std::make_shared<LoopbackCommunicator>(
        rendezvous, whole_world(rank, size), nullptr, std::make_shared<ProgressEngine>(), options));
  }
  return ranks;
}

void run_ranks(int ranks, const std::function<void(Communicator&)>& body, LoopbackOptions options) {
  std::vector<std::shared_ptr<Communicator>> world = make_loopback(ranks, options);
  FirstFailure first;
  const std::uint64_t seed = Context::current().seed;
  const auto run = [&](int rank) {
    const ContextScope scope(context_of(rank, ranks, seed));
    const auto& own = world[static_cast<std::size_t>(rank)];
    const auto comm = options.watched ? with_watchdog(own, {.deadline = options.deadline}) : own;
    try {
      body(*comm);
    } catch (...) {
      first.record(std::current_exception());
      comm->abort(std::current_exception());
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back(run, rank);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  first.rethrow();
}

}  // namespace tessera::dist
