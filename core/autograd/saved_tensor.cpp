#include <tessera/core/autograd/saved_tensor.h>

#include <utility>

#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// What a hook made of a tensor that holds microbatches: what it gives back in the tensor's shape,
/// from host memory say, holds them, too.
class PackedWithBorders final : public PackedTensor {
 public:
  PackedWithBorders(std::unique_ptr<PackedTensor> packed, const Tensor& tensor)
      : packed_(std::move(packed)), shape_(tensor.shape()), microbatches_(tensor.microbatches()) {}

  [[nodiscard]] Tensor unpack() override {
    Tensor x = packed_->unpack();
    const bool knows_none = x.defined() && !x.microbatches() && x.shape() == shape_;
    return knows_none ? with_borders(x, microbatches_) : x;
  }

 private:
  std::unique_ptr<PackedTensor> packed_;
  Shape shape_;
  MicrobatchLayout microbatches_;
};

}  // namespace

SavedTensorHooksScope::SavedTensorHooksScope(SavedTensorHooks& hooks)
    : previous_(std::exchange(Modes::current().saved_hooks, &hooks)) {}

SavedTensorHooksScope::~SavedTensorHooksScope() {
  Modes::current().saved_hooks = previous_;
}

SavedTensor SavedTensor::as_it_is(const Tensor& tensor) {
  SavedTensor saved;
  saved.tensor_ = tensor;
  saved.version_ = tensor.version();
  return saved;
}

SavedTensor::SavedTensor(const Tensor& tensor) {
  if (SavedTensorHooks* hooks = Modes::current().saved_hooks; hooks != nullptr) [[unlikely]] {
    packed_ = hooks->pack(tensor);
    if (packed_ != nullptr && tensor.microbatches()) {
      packed_ = std::make_unique<PackedWithBorders>(std::move(packed_), tensor);
    }
  }
  if (packed_ == nullptr) {
    tensor_ = tensor;
    version_ = tensor.version();
  }
}

Tensor SavedTensor::unpack(const char* op) const {
  if (packed_ != nullptr) {
    // The caller's code: what it sums over the samples is a microbatch's, as when it packed.
    const SumsApart apart;
    return packed_->unpack();
  }
  check(is_intact(), op, ": a tensor needed for the gradient was changed in place; got version ",
        tensor_.defined() ? tensor_.version() : 0, ", expected ", version_);
  return tensor_;
}

bool SavedTensor::is_intact() const {
  return !tensor_.defined() || tensor_.version() == version_ || tensor_.numel() == 0;
}

}  // namespace tessera
