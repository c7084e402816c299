#include "support/own_kernels_device.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include <tessera/core/device/backend.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/elements.h>

#include "support/mapped_pages.h"

namespace tessera::test {
namespace {

/// Work of all streams in the order in which it was given, done when somebody asks for it: so work
/// of one stream comes after what it waits for of another.
class Queue {
 public:
  Ticket push(const StreamId& stream, std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    items_.push_back({stream, std::move(work)});
    return {stream, ++pushed_[stream]};
  }
  Ticket last(const StreamId& stream) {
    const std::lock_guard lock(mutex_);
    return {stream, pushed_[stream]};
  }
  bool run_until(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    while (done_[ticket.stream] < ticket.number && !items_.empty()) {
      items_.front().second();
      ++done_[items_.front().first];
      items_.pop_front();
    }
    return done_[ticket.stream] >= ticket.number;
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<StreamId, std::function<void()>>> items_;
  std::map<StreamId, std::uint64_t> pushed_, done_;
};

Queue& queue() {
  static Queue all;
  return all;
}

std::vector<StreamId>& seen() {
  static std::vector<StreamId> streams;
  return streams;
}

int count() {
  return 1;
}

DeviceMemory allocate_own(const StreamId&, std::size_t nbytes, MemoryCategory category) {
  const MappedPages pages = map_pages(nbytes);
  return {.memory = {.data = pages.closed, .nbytes = nbytes, .category = category}};
}

/// In the order of the stream, like other work.
void deallocate_own(const MemoryBlock& block, const StreamId& home,
                    std::span<const Ticket>) noexcept {
  queue().push(home, [block] { unmap_pages(pages_at(block.data, block.nbytes)); });
}

void write_own(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(writable_address(to, nbytes), from, nbytes);
}

void read_own(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(to, writable_address(from, nbytes), nbytes);
}

StreamId open_own(int index, const char*);

void close_own(const StreamId& stream) noexcept {
  static_cast<void>(queue().run_until(queue().last(stream)));
}

Ticket mark_own(const StreamId& stream) {
  return queue().last(stream);
}

void wait_own(const StreamId&, const Ticket&) {}

bool reached_own(const Ticket& ticket) {
  return queue().run_until(ticket);
}

void synchronize_own(const Ticket& ticket) {
  static_cast<void>(queue().run_until(ticket));
}

constexpr DeviceBackend kOwn{.name = "own",
                             .count = count,
                             .allocate = allocate_own,
                             .deallocate = deallocate_own,
                             .write = write_own,
                             .read = read_own,
                             .open = open_own,
                             .close = close_own,
                             .mark = mark_own,
                             .wait = wait_own,
                             .reached = reached_own,
                             .synchronize = synchronize_own};
const RegisterDevice register_own{kOwn};

StreamId open_own(int index, const char*) {
  static std::uint32_t opened = 0;
  return {.device = {.type = register_own.type(), .index = static_cast<std::int8_t>(index)},
          .number = ++opened};
}

float* numbers_of(const TensorImpl& x) {
  std::byte* data = x.storage->data() + x.offset * std::ptrdiff_t{sizeof(float)};
  const auto nbytes = static_cast<std::size_t>(x.numel()) * sizeof(float);
  return reinterpret_cast<float*>(writable_address(data, nbytes));
}

std::size_t bytes_of_result(const Kernel& k, const Mul::Attrs&) {
  return static_cast<std::size_t>(k.output().numel()) * sizeof(float);
}

/// Multiplies into the workspace, which is free for others behind this work, and copies.
bool multiply(Kernel& k, const Mul::Attrs&) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& y = k.input(1);
  const bool by_number = y.device.is_cpu();
  const bool fits = x.dtype == DType::f32 && x.contiguous() && k.output().contiguous() &&
                    !x.device.is_cpu() &&
                    (by_number || (y.dtype == x.dtype && y.contiguous() && y.shape == x.shape));
  if (!fits) {
    return false;
  }
  seen().push_back(k.stream());
  const auto n = static_cast<std::size_t>(x.numel());
  const auto* to = reinterpret_cast<const std::byte*>(k.workspace());
  queue().push(k.stream(), [=, number = by_number ? load_as<float>(y, 0) : 0.0F, a = numbers_of(x),
                            b = by_number ? nullptr : numbers_of(y), out = numbers_of(k.output())] {
    auto* product = reinterpret_cast<float*>(writable_address(to, n * sizeof(float)));
    for (std::size_t i = 0; i < n; ++i) {
      product[i] = a[i] * (b == nullptr ? number : b[i]);
    }
    std::copy_n(product, n, out);
  });
  return true;
}

const RegisterKernel<Mul, multiply, bytes_of_result> register_multiply{register_own.type()};

}  // namespace

Device own_kernels_device() {
  return {.type = register_own.type()};
}

std::vector<StreamId> streams_of_kernels() {
  return std::exchange(seen(), {});
}

}  // namespace tessera::test
