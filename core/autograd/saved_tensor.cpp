#include <tessera/core/autograd/saved_tensor.h>

#include <utility>

#include <tessera/core/autograd/modes.h>

namespace tessera {

SavedTensorHooksScope::SavedTensorHooksScope(SavedTensorHooks& hooks)
    : previous_(std::exchange(Modes::current().saved_hooks, &hooks)) {}

SavedTensorHooksScope::~SavedTensorHooksScope() {
  Modes::current().saved_hooks = previous_;
}

SavedTensor::SavedTensor(const Tensor& tensor) {
  if (SavedTensorHooks* hooks = Modes::current().saved_hooks; hooks != nullptr) [[unlikely]] {
    packed_ = hooks->pack(tensor);
  }
  if (packed_ == nullptr) {
    tensor_ = tensor;
    version_ = tensor.version();
  }
}

Tensor SavedTensor::unpack(const char* op) const {
  if (packed_ != nullptr) {
    // The caller's code: what it sums over the samples is a microbatch's, as when it packed.
    const ModeGuard<&Modes::batch_sum> sums(BatchSum::stack);
    return packed_->unpack();
  }
  if (tensor_.defined()) {
    check(tensor_.version() == version_, op, ": a tensor needed for the gradient was changed in ",
          "place; got version ", tensor_.version(), ", expected ", version_);
  }
  return tensor_;
}

}  // namespace tessera
