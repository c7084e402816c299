#include <tessera/nn/state/overwrite.h>

#include <cstring>
#include <unordered_set>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/overlap.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::nn::detail {

std::string why_not_written(const Tensor& into, const Tensor& from) {
  using tessera::detail::concat;
  if (repeats_elements(into.get())) {
    return concat("several of its elements share memory; got strides ", into.get().strides,
                  ", expected clone(x) of the expanded tensor x");
  }
  if (is_complex(from.dtype()) && !is_complex(into.dtype())) {
    return concat("cannot take complex numbers; got ", from.dtype(), ", expected ", into.dtype());
  }
  const bool empty = from.device().type == DeviceType::meta;
  return empty && into.device().type != DeviceType::meta ? "what is given has no data (meta)" : "";
}

bool same_elements(const Tensor& a, const Tensor& b) {
  const bool meta = a.device().type == DeviceType::meta || b.device().type == DeviceType::meta;
  const bool same_memory = a.get().storage == b.get().storage && a.get().offset == b.get().offset &&
                           a.strides() == b.strides();
  if (meta || a.dtype() != b.dtype() || a.shape() != b.shape() || same_memory) {
    return meta || (a.dtype() == b.dtype() && a.shape() == b.shape());
  }
  const Tensor left = contiguous(to_host(a)), right = contiguous(to_host(b));
  return left.nbytes() == 0 || std::memcmp(left.raw_data(), right.raw_data(), left.nbytes()) == 0;
}

void overwrite(const Tensor& into, const Tensor& from) {
  const NoGradGuard no_grad;
  if (into.device() == from.device() || into.device().is_cpu()) {
    static_cast<void>(call_into<Cast>(into, {on_device(from, into.device())}, {into.dtype()}));
  } else {
    transfer(into, cast(to_host(from), into.dtype()));
    into.get().storage->bump_version();
  }
}

void settle_writes(const Tensor& x) {
  if (x.defined() && x.get().storage) {
    wait_until_readable(*x.get().storage);
  }
}

void overwrite_all(std::vector<Write> writes) {
  std::unordered_set<const Storage*> written;
  for (const Write& write : writes) {
    settle_writes(write.into);
    settle_writes(write.from);
    if (write.into.get().storage) {
      written.insert(write.into.get().storage.get());
    }
  }
  const NoGradGuard no_grad;
  for (auto& [into, from] : writes) {
    if (written.contains(from.get().storage.get()) && overlap_of(into, from) != Overlap::same) {
      from = clone(from);
    }
  }
  for (const auto& [into, from] : writes) {
    overwrite(into, from);
  }
}

}  // namespace tessera::nn::detail
