#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/state/serialize.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

using nn::Linear;

void add_mlp(nn::Sequential& stack) {
  stack.add<Linear>(6, 8);
  stack.add<nn::LayerNorm>(8);
  stack.add<Linear>(8, 8);
  stack.add<Linear>(8, 8);
  stack.add<Linear>(8, 3, nn::LinearOptions{.bias = false});
}

void add_nested(nn::Sequential& stack) {
  stack.add<Linear>(6, 6);
  auto& inner = stack.add<nn::Sequential>();
  inner.add<nn::LayerNorm>(6);
  inner.add<Linear>(6, 4);
}

BuiltLayer sequential(const Attributes& a) {
  auto built = layer<nn::Sequential>();
  auto& stack = static_cast<nn::Sequential&>(*built.module);
  a.text("form") == "mlp" ? add_mlp(stack) : add_nested(stack);
  return built;
}

/// A template's classes are registered each by itself.
void register_list() {
  static const bool once = [] {
    nn::register_class<nn::ModuleList<Linear>>("ModuleList of Linear");
    return true;
  }();
  static_cast<void>(once);
}

BuiltLayer module_list(const Attributes& a) {
  register_list();
  auto list = nn::make<nn::ModuleList<Linear>>();
  const auto widths = a.integers("widths");
  for (std::size_t i = 1; i < widths.size(); ++i) {
    list->add(widths[i - 1], widths[i]);
  }
  list->build();
  const auto in_turn = [list](const NamedTensors& in) -> std::vector<Tensor> {
    Tensor x = in["x"];
    for (const auto& part : *list) {
      x = part(x);
    }
    return {x};
  };
  return {list, in_turn};
}

const Counterparts<Layer> kContainers{{"Sequential", {sequential}}, {"ModuleList", {module_list}}};

}  // namespace
}  // namespace tessera::oracle
