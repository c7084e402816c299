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
  if (value.is<Tensor>()) {
    const Tensor x = value.tensor();
    return empty(x.shape(), {.dtype = x.dtype(), .device = kMeta});
  }
  if (value.is<Value::List>()) {
    Value::List list;
    for (const Value& part : value.get<Value::List>()) {
      list.push_back(as_meta(part));
    }
    return list;
  }
  if (value.is<Value::Map>()) {
    Value::Map map;
    for (const auto& [name, part] : value.get<Value::Map>()) {
      map.set(name, as_meta(part));
    }
    return map;
  }
  return value;
}

}  // namespace tessera::nn::detail
