#include <tessera/core/tensor/transfer.h>

#include <cstring>

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

}  // namespace

Tensor to_host(const Tensor& x) {
  check<NotImplementedError>(static_cast<bool>(x.get().storage),
                             "data: a meta tensor has no elements");
  wait_until_readable(*x.get().storage);
  return is_host_addressable(x.device()) ? x.detach() : copied_to_host(x.get());
}

Tensor on_device(const Tensor& x, const Device& device) {
  check_available(device);
  if (x.device() == device) {
    return x.detach();
  }
  if (is_host_addressable(device)) {
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
  check<NotImplementedError>(static_cast<bool>(to.get().storage),
                             "transfer: a meta tensor has no elements");
  const Tensor host = dense_on_host(from);
  if (to.numel() == 0) {
    return;
  }
  wait_until_writable(*to.get().storage);
  const std::byte* bytes = address_of(host.get());
  if (is_host_addressable(to.device())) {
    std::memmove(address_of(to.get()), bytes, to.nbytes());
  } else {
    backend_of(to.device().type).write(to.device().index, address_of(to.get()), bytes, to.nbytes());
  }
}

void set_to_zero(const Tensor& to) {
  if (!is_host_addressable(to.device())) {
    return transfer(to, zeros(to.shape(), {.dtype = to.dtype()}));
  }
  check<InternalError>(to.is_contiguous(), "set_to_zero: the tensor is not dense");
  wait_until_writable(*to.get().storage);
  std::memset(address_of(to.get()), 0, to.nbytes());
}

std::uint64_t hash_elements(const Tensor& x, std::uint64_t seed) {
  const Tensor dense = dense_on_host(x);
  return hash_bytes({address_of(dense.get()), dense.nbytes()}, seed);
}

}  // namespace tessera
