#include <tessera/nn/functional/spec.h>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/functional/random_key.h>

namespace tessera::nn {
namespace {

constexpr Device kMeta{.type = DeviceType::meta};

/// Slots without elements.
class MetaFrame final : public Frame {
 public:
  [[nodiscard]] std::optional<Tensor> read(const Slot& slot) override {
    return empty(slot.shape, {.dtype = slot.dtype, .device = kMeta});
  }
  bool write(const SlotPtr& slot, const Tensor& value) override {
    check_assigned(*slot, value);
    return true;
  }
};

}  // namespace

ArraySpec spec(const Module& module, const ArraySpec& input) {
  MetaFrame frame;
  const FrameScope scope(frame);
  const CallStateGuard<&CallState::pure> pure(&module);
  const NoGradGuard no_grad;
  const RandomKeyScope random({});
  const Tensor y = module(empty(input.shape, {.dtype = input.dtype, .device = kMeta}));
  return {y.shape(), y.dtype()};
}

}  // namespace tessera::nn
