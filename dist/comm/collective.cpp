#include <tessera/dist/comm/collective.h>

#include <array>

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
  constexpr std::array kNames{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                              "broadcast",  "send",       "receive",        "barrier"};
  const auto at = static_cast<std::size_t>(kind);
  return at < kNames.size() ? kNames[at] : "?";
}

std::ostream& operator<<(std::ostream& out, CollectiveKind kind) {
  return out << to_string(kind);
}

}  // namespace tessera::dist
