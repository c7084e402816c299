#include <tessera/dist/comm/fake.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>
#include <tessera/dist/comm/anonymous_memory.h>

namespace tessera::dist {
namespace {

class Done final : public WorkState {
 public:
  bool wait_until(Time) override { return true; }
  [[nodiscard]] bool done() const override { return true; }
  [[nodiscard]] std::exception_ptr error() const override { return nullptr; }
  [[nodiscard]] std::chrono::nanoseconds duration() const override { return {}; }
};

bool lies_on_host(const Operand& operand) {
  return is_host_addressable(operand.device());
}

class FakeCommunicator final : public Communicator {
 public:
  FakeCommunicator(int rank, int size, std::string name)
      : rank_(rank), size_(size), name_(std::move(name)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int world_rank(int peer) const override { return peer; }
  [[nodiscard]] std::string transport(int peer) const override {
    return peer == rank_ ? "self" : "fake";
  }
  [[nodiscard]] std::string host(int) const override { return "fake"; }

  Work start(Collective&& c) override {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    check<Unsupported>(lies_on_host(c.send) && lies_on_host(c.receive),
                       "fake: sends nothing, and echoes what is in the host's memory alone; got ",
                       to_string(c.kind), " on a device");
    echo(c);
    return Work(std::make_shared<Done>());
  }
  CommBuffer allocate(std::size_t nbytes) override { return anonymous_memory(nbytes); }
  std::shared_ptr<Communicator> split(int, int, std::string name) override {
    return std::make_shared<FakeCommunicator>(rank_, size_, std::move(name));
  }
  void abort(std::exception_ptr cause) noexcept override {
    failure_ = failure_ ? failure_ : std::move(cause);
  }

 private:
  /// What is gathered or exchanged, if every rank had sent what this one has for itself: of uneven
  /// parts as much as both have.
  void echo(const Collective& c) const {
    const bool exchange = c.kind == CollectiveKind::all_to_all;
    if (c.count == 0 || (c.kind != CollectiveKind::all_gather && !exchange)) {
      return;
    }
    const std::size_t element = size_of(c.dtype);
    const std::byte* own = c.send.data();
    own += exchange ? c.count * element * static_cast<std::size_t>(rank_) : 0;
    std::byte* part = c.receive.data();
    for (std::size_t r = 0; r < static_cast<std::size_t>(size_); ++r) {
      const std::size_t count = c.counts.empty() ? c.count : c.counts[r];
      std::memmove(part, own, std::min(count, c.count) * element);
      part += count * element;
    }
  }

  int rank_;
  int size_;
  std::string name_;
  std::exception_ptr failure_;
};

}  // namespace

std::shared_ptr<Communicator> make_fake(int rank, int size) {
  check(size >= 1 && rank >= 0 && rank < size, "fake: no such rank; got rank ", rank, " of ", size);
  return std::make_shared<FakeCommunicator>(rank, size, "world");
}

}  // namespace tessera::dist
