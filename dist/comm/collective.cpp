#include <tessera/dist/comm/collective.h>

#include <tessera/core/base/error.h>

namespace tessera::dist {

Operand::Operand(const Tensor& x) {
  check(x.is_contiguous(), "collective: the operand is not dense; got shape ", x.shape(),
        " with strides ", x.strides());
  storage = x.get().storage;
  dtype = x.dtype();
  offset = static_cast<std::size_t>(x.get().offset) * size_of(x.dtype());
}

Operand::Operand(const void* data, std::size_t nbytes, std::shared_ptr<const void> owner)
    : storage(make_ref<Storage>(static_cast<std::byte*>(const_cast<void*>(data)), nbytes, Device{},
                                std::move(owner))) {}

const char* to_string(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::reduce_scatter:
      return "reduce_scatter";
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::send:
      return "send";
    case CollectiveKind::receive:
      return "receive";
    case CollectiveKind::barrier:
      return "barrier";
  }
  return "?";
}

}  // namespace tessera::dist
