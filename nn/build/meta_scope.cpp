#include <tessera/nn/build/meta_scope.h>

#include <tessera/core/tensor/factories.h>

namespace tessera::nn::detail {
namespace {

constexpr Device kMeta{.type = DeviceType::meta};

}  // namespace

std::optional<Tensor> MetaFrame::read(const Slot& slot) {
  return empty(slot.shape, {.dtype = slot.dtype, .device = kMeta});
}

bool MetaFrame::write(const SlotPtr& slot, const Tensor& value) {
  check_assigned(*slot, value);
  return true;
}

Value as_meta(const Value& value) {
  return map_tensors(value, [](const Tensor& x) {
    return empty(x.shape(), {.dtype = x.dtype(), .device = kMeta});
  });
}

}  // namespace tessera::nn::detail
