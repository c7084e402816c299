#include <tessera/dist/comm/collective.h>

#include <algorithm>
#include <array>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::dist {

Operand::Operand(Ref<Storage> storage, std::size_t offset) noexcept : storage_(std::move(storage)) {
  if (storage_) {
    data_ = storage_->data() + offset;
    nbytes_ = storage_->nbytes() - std::min(offset, storage_->nbytes());
  }
}

Operand::Operand(const Tensor& x)
    : Operand(x.get().storage, static_cast<std::size_t>(x.get().offset) * size_of(x.dtype())) {
  check(x.is_contiguous(), "collective: the operand is not dense; got shape ", x.shape(),
        " with strides ", x.strides());
  dtype_ = x.dtype();
  nbytes_ = x.nbytes();
}

Operand::Operand(const void* data, std::size_t nbytes, std::shared_ptr<const void> owner)
    : Operand(make_ref<Storage>(static_cast<std::byte*>(const_cast<void*>(data)), nbytes, Device{},
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
