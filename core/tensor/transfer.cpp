#include <tessera/core/tensor/transfer.h>

#include <cstring>
#include <utility>
#include <vector>

#include <tessera/core/base/hash.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/loss_counts.h>

namespace tessera {
namespace {

/// Address of the first element, which the host may not be able to use.
std::byte* address_of(const TensorImpl& x) {
  return x.storage->data() + static_cast<std::size_t>(x.offset) * size_of(x.dtype);
}

/// Bytes from the first element of `x` to behind its last.
std::size_t span_of(const TensorImpl& x) {
  std::int64_t last = 0;
  for (int d = 0; d < x.shape.size(); ++d) {
    last += (x.shape[d] - 1) * x.strides[d];
  }
  return x.numel() == 0 ? 0 : static_cast<std::size_t>(last + 1) * size_of(x.dtype);
}

/// Tells `copy` what else is known of the elements of `x`.
void carry_over(const TensorImpl& x, TensorImpl& copy) {
  copy.set_microbatches(x.microbatches());
  copy.inference = x.inference;
  copy.set_counts(x.counts());
}

/// The elements of `x` in memory of the host's, with x's strides.
Tensor copied_to_host(const TensorImpl& x) {
  const std::size_t nbytes = span_of(x);
  auto host = make_ref<TensorImpl>(make_ref<Storage>(nbytes, Device{}), x.shape, x.dtype, Device{});
  host->strides = x.strides;
  carry_over(x, *host);
  if (nbytes > 0) {
    backend_of(x.device.type).read(x.device.index, host->storage->data(), address_of(x), nbytes);
  }
  return Tensor(std::move(host));
}

/// `x`, dense, in row-major order, where the host reads it.
Tensor dense_on_host(const Tensor& x) {
  const Tensor host = to_host(x);
  if (host.is_contiguous()) {
    return host;
  }
  Tensor dense = empty(host.shape(), {.dtype = host.dtype()});
  carry_over(x.get(), dense.get());
  const std::size_t element = size_of(host.dtype());
  const std::byte* from = address_of(host.get());
  std::byte* to = dense.get().storage->data();
  for_each_element(host.get(), [&](std::int64_t at) {
    std::memcpy(to, from + at * static_cast<std::int64_t>(element), element);
    to += element;
  });
  return dense;
}

DeviceRegion region_of(const Tensor& x) {
  return {x.device().index, address_of(x.get()), x.nbytes()};
}

/// Gives what `launch` puts into a stream's queue, which writes to `to` and reads `from`, to the
/// current stream of the device of `to`.
template <class Launch>
void launch_write(const Tensor& to, const Tensor* from, const Launch& launch) {
  const StreamId stream = current_stream(to.device());
  Storage& written = *to.get().storage;
  std::vector<Ticket> before = tickets_before(written, true);
  if (from != nullptr) {
    const std::vector<Ticket> writes = tickets_before(*from->get().storage, false);
    before.insert(before.end(), writes.begin(), writes.end());
  }
  wait_for(stream, std::move(before));
  const Ticket done = launch(stream);
  if (from != nullptr) {
    after_read(*from->get().storage, done);
  }
  after_write(written, done);
}

/// Lets the backend that both belong to copy the elements. False where it does not.
bool copy_on_device(const Tensor& to, const Tensor& from) {
  const bool together = to.device().type == from.device().type && !to.device().is_cpu();
  const auto copy = together ? backend_of(to.device().type).copy : nullptr;
  if (copy == nullptr || !from.is_contiguous()) {
    return false;
  }
  launch_write(to, &from, [&](const StreamId& stream) {
    return copy(stream, region_of(to), region_of(from));
  });
  return true;
}

}  // namespace

Tensor to_host(const Tensor& x) {
  check<NotImplementedError>(static_cast<bool>(x.get().storage),
                             "data: a meta tensor has no elements");
  wait_until_readable(*x.get().storage);
  if (!is_host_addressable(x.device())) {
    return copied_to_host(x.get());
  }
  Tensor host = x.detach();
  host.get().device = Device{};
  return host;
}

Tensor on_device(const Tensor& x, const Device& device) {
  check_available(device);
  if (x.device() == device) {
    return x.detach();
  }
  if (device.is_cpu() && !is_host_addressable(x.device())) {
    return dense_on_host(x);
  }
  const Tensor moved = empty(x.shape(), {.dtype = x.dtype(), .device = device});
  carry_over(x.get(), moved.get());
  if (device.type != DeviceType::meta) {
    transfer(moved, x);
  }
  return moved;
}

void transfer(const Tensor& to, const Tensor& from) {
  check(to.shape() == from.shape() && to.dtype() == from.dtype(), "transfer: unlike tensors; got ",
        from.shape(), " ", from.dtype(), ", expected ", to.shape(), " ", to.dtype());
  check(to.is_contiguous(), "transfer: the destination is not dense; got strides ", to.strides(),
        ", expected those of a dense tensor ", to.shape());
  check<NotImplementedError>(to.get().storage && from.get().storage,
                             "transfer: a meta tensor has no elements");
  if (to.numel() == 0 || copy_on_device(to, from)) {
    return;
  }
  const Tensor host = dense_on_host(from);
  wait_until_writable(*to.get().storage);
  const std::byte* bytes = address_of(host.get());
  if (is_host_addressable(to.device())) {
    std::memmove(address_of(to.get()), bytes, to.nbytes());
  } else {
    backend_of(to.device().type).write(to.device().index, address_of(to.get()), bytes, to.nbytes());
  }
}

void set_to_zero(const Tensor& to) {
  check<InternalError>(to.is_contiguous(), "set_to_zero: the tensor is not dense");
  check<NotImplementedError>(static_cast<bool>(to.get().storage),
                             "set_to_zero: a meta tensor has no elements");
  if (to.numel() == 0) {
    return;
  }
  const Device device = to.device();
  if (const auto fill = device.is_cpu() ? nullptr : backend_of(device.type).fill; fill != nullptr) {
    launch_write(to, nullptr,
                 [&](const StreamId& stream) { return fill(stream, region_of(to), std::byte{0}); });
  } else if (is_host_addressable(device)) {
    wait_until_writable(*to.get().storage);
    std::memset(address_of(to.get()), 0, to.nbytes());
  } else {
    transfer(to, full(to.shape(), 0, {.dtype = to.dtype()}));
  }
}

std::uint64_t hash_elements(const Tensor& x, std::uint64_t seed) {
  const Tensor dense = dense_on_host(x);
  return hash_bytes({address_of(dense.get()), dense.nbytes()}, seed);
}

}  // namespace tessera
