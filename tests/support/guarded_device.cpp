#include "support/guarded_device.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sstream>

#include <tessera/core/device/backend.h>
#include <tessera/core/dispatch/kernel_job.h>

#include "support/guarded_memory.h"
#include "support/guarded_streams.h"
#include "support/sweep.h"

namespace tessera::test {
namespace {

/// By the access of this thread that is about to come, which may ask for it again.
thread_local Ticket left_out;

struct Guarded {
  std::mutex mutex;
  GuardedStreams streams;
  GuardedMemory memory;
  std::uint32_t opened = 0;
  std::vector<StreamId> closed;  ///< to be opened again: clocks stay short
  std::size_t waits = 0;
  std::optional<std::size_t> ignored;

  /// Counts a wait by what knows `clock`; false where it is not to be done.
  bool counts(const VectorClock& clock, const Ticket& ticket) {
    if (clock.covers(ticket)) {
      return true;
    }
    if (left_out != ticket && waits++ == ignored) {
      left_out = ticket;
    }
    return left_out != ticket;
  }

  /// What the host found reached by asking was a wait where its access to these bytes needs it.
  void count_polls(std::span<const std::byte> bytes, bool writes) {
    std::vector<Ticket> polled = memory.before(bytes, writes);
    std::erase_if(polled, [&](const Ticket& ticket) {
      return streams.clock_of_host().covers(ticket) || !streams.is_polled(ticket);
    });
    for (const Ticket& ticket : polled) {
      const bool implied = std::ranges::any_of(polled, [&](const Ticket& other) {
        return other != ticket && streams.clock_at(other).covers(ticket);
      });
      if (!implied && counts(streams.clock_of_host(), ticket)) {
        streams.count_as_waited(ticket);
      }
    }
  }
};

Guarded& guarded() {
  static auto& device = *new Guarded;  // tensors of other statics may outlive it
  return device;
}

int count() {
  return 4;
}

DeviceMemory allocate_guarded(const StreamId& home, std::size_t nbytes, MemoryCategory category) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  const GuardedMemory::Taken taken = g.memory.take(home.device.index, nbytes);
  return {.memory = {.data = taken.pages.closed, .nbytes = nbytes, .category = category},
          .free_from = taken.free_from};
}

void deallocate_guarded(const MemoryBlock& block, const StreamId& home,
                        std::span<const Ticket> others) noexcept {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  for (const Ticket& ticket : others) {
    if (g.counts(g.streams.clock_of(home), ticket)) {
      g.streams.wait(home, ticket, false);
    }
  }
  const MappedPages pages = pages_at(block.data, 0);
  const VectorClock known = g.streams.clock_of(home);
  const Ticket ticket =
      g.streams.push(home, [pages] { std::memset(pages.writable, 0xcb, pages.nbytes); });
  g.memory.write({pages.closed, pages.nbytes}, known, ticket, "the end of a storage");
  g.memory.give_back(block.data, home.device.index, ticket);
  left_out = {};
}

void write_guarded(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.count_polls({to, nbytes}, true);
  g.memory.write({to, nbytes}, g.streams.clock_of_host(), {}, "the host");
  std::memcpy(writable_address(to, nbytes), from, nbytes);
  left_out = {};
}

void read_guarded(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.count_polls({from, nbytes}, false);
  g.memory.read({from, nbytes}, g.streams.clock_of_host(), {}, "the host");
  std::memcpy(to, writable_address(from, nbytes), nbytes);
  left_out = {};
}

StreamId open_stream(int index, const char*) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  const auto known = std::ranges::find(g.closed, guarded_device(index), &StreamId::device);
  if (known == g.closed.end()) {
    return {.device = guarded_device(index), .number = ++g.opened};
  }
  const StreamId stream = *known;
  g.closed.erase(known);
  return stream;
}

void close_stream(const StreamId& stream) noexcept {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.closed.push_back(stream);
}

/// What an operand of a kernel is on the host: the read-only memory, or the writable one where the
/// kernel writes to the same block.
void open_operand(TensorImpl& x, bool writable) {
  const Storage& closed = *x.storage;
  const MappedPages pages = pages_at(closed.data(), closed.nbytes());
  std::byte* const address =
      (writable ? pages.writable : pages.readable) + (closed.data() - pages.closed);
  x.storage = make_ref<Storage>(address, closed.nbytes(), Device{}, nullptr);
  x.device = Device{};
}

bool lies_there(const Ref<TensorImpl>& x) {
  return x && x->device.type == guarded_device().type;
}

/// The block in which an operand lies.
const std::byte* block_of(const Ref<TensorImpl>& x) {
  return pages_at(x->storage->data(), 0).closed;
}

/// From an operand's first element to behind its last.
std::span<const std::byte> bytes_of(const TensorImpl& x) {
  std::int64_t last = x.numel() > 0 ? 1 : 0;
  for (int d = 0; last > 0 && d < x.shape.size(); ++d) {
    last += (x.shape[d] - 1) * x.strides[d];
  }
  const std::size_t element = size_of(x.dtype);
  return {x.storage->data() + static_cast<std::size_t>(x.offset) * element,
          static_cast<std::size_t>(last) * element};
}

void note_accesses(Guarded& g, const KernelJob& job, const VectorClock& known,
                   const Ticket& ticket) {
  std::ostringstream who;
  who << job.op() << " on stream " << ticket.stream.number << " of " << ticket.stream.device;
  for (std::size_t i = 0; i < job.operands().size(); ++i) {
    if (lies_there(job.operands()[i]) && !job.writes(i)) {
      g.memory.read(bytes_of(*job.operands()[i]), known, ticket, who.str());
    }
  }
  VectorClock with_itself = known;
  with_itself.join(ticket);
  for (std::size_t i = 0; i < job.operands().size(); ++i) {
    if (lies_there(job.operands()[i]) && job.writes(i)) {
      g.memory.write(bytes_of(*job.operands()[i]), with_itself, ticket, who.str());
    }
  }
}

Ticket launch_guarded(const StreamId& stream, std::unique_ptr<KernelJob> job) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  const auto operands = job->operands();
  std::vector<const std::byte*> written;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (lies_there(operands[i]) && job->writes(i)) {
      written.push_back(block_of(operands[i]));
    }
  }
  const VectorClock known = g.streams.clock_of(stream);
  const Ticket ticket{stream, g.streams.last(stream).number + 1};
  note_accesses(g, *job, known, ticket);
  left_out = {};
  for (const Ref<TensorImpl>& x : operands) {
    if (lies_there(x)) {
      open_operand(*x, std::ranges::find(written, block_of(x)) != written.end());
    }
  }
  const std::shared_ptr<KernelJob> shared = std::move(job);
  return g.streams.push(stream, [shared] { shared->run(); });
}

Ticket copy_guarded(const StreamId& stream, const DeviceRegion& to, const DeviceRegion& from) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  VectorClock known = g.streams.clock_of(stream);
  const Ticket ticket{stream, g.streams.last(stream).number + 1};
  g.memory.read({from.data, from.nbytes}, known, ticket, "a copy");
  known.join(ticket);
  g.memory.write({to.data, to.nbytes}, known, ticket, "a copy");
  left_out = {};
  std::byte* const there = writable_address(to.data, to.nbytes);
  const std::byte* const here = writable_address(from.data, from.nbytes);
  return g.streams.push(stream, [=, n = to.nbytes] { std::memmove(there, here, n); });
}

Ticket fill_guarded(const StreamId& stream, const DeviceRegion& to, std::byte value) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  const Ticket ticket{stream, g.streams.last(stream).number + 1};
  g.memory.write({to.data, to.nbytes}, g.streams.clock_of(stream), ticket, "a fill");
  left_out = {};
  std::byte* const there = writable_address(to.data, to.nbytes);
  return g.streams.push(stream,
                        [=, n = to.nbytes] { std::memset(there, static_cast<int>(value), n); });
}

Ticket mark_guarded(const StreamId& stream) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  return g.streams.last(stream);
}

void wait_guarded(const StreamId& stream, const Ticket& ticket) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  if (g.counts(g.streams.clock_of(stream), ticket)) {
    g.streams.wait(stream, ticket, true);
  }
}

bool reached_guarded(const Ticket& ticket) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  return g.streams.reached(ticket);
}

void synchronize_guarded(const Ticket& ticket) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  if (ticket && g.counts(g.streams.clock_of_host(), ticket)) {
    g.streams.run_until(ticket);
    g.streams.rethrow(ticket);
  }
}

constexpr DeviceBackend kGuarded{.name = "guarded",
                                 .kernels_of = DeviceType::cpu,
                                 .count = count,
                                 .allocate = allocate_guarded,
                                 .deallocate = deallocate_guarded,
                                 .write = write_guarded,
                                 .read = read_guarded,
                                 .open = open_stream,
                                 .close = close_stream,
                                 .launch = launch_guarded,
                                 .copy = copy_guarded,
                                 .fill = fill_guarded,
                                 .mark = mark_guarded,
                                 .wait = wait_guarded,
                                 .reached = reached_guarded,
                                 .synchronize = synchronize_guarded};
const RegisterDevice register_guarded{kGuarded};

}  // namespace

Device guarded_device(int index) {
  return {.type = register_guarded.type(), .index = static_cast<std::int8_t>(index)};
}

std::vector<std::uint64_t> orders(int all, int few, unsigned salt) {
  const std::vector<int> drawn = sampled(all, few, salt);
  return {drawn.begin(), drawn.end()};
}

GuardedRun::GuardedRun(std::uint64_t seed, std::optional<std::size_t> ignored) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.streams.run_all();
  g.memory.trim();  // so that runs of one seed are alike
  g.streams.draw_from(seed);
  g.waits = 0;
  g.ignored = ignored;
  left_out = {};
}

GuardedRun::~GuardedRun() {
  static_cast<void>(reports());
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.streams.forget_errors();
  g.ignored.reset();
}

std::vector<std::string> GuardedRun::reports() {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  g.streams.run_all();
  return g.memory.take_reports();
}

std::size_t GuardedRun::waits() const {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  return g.waits;
}

}  // namespace tessera::test
