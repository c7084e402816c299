// Modules one after another.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Children named "0", "1", ... of which each gets the output of the one before. They take and give
/// one tensor.
///
///   nn::Child<nn::Sequential> stack{this, "stack"};
///   MyModel() { stack->add<nn::Linear>(4, 8); stack->add<nn::LayerNorm>(8); }
class Sequential : public Module {
 public:
  /// Constructs one more module at the end.
  template <std::derived_from<Module> M, class... A>
  M& add(A&&... arguments) {  // options with their type: ConvOptions{.stride = 2}
    return *register_module(detail::next_number(detail::child_entries(*this)),
                            std::shared_ptr<M>(make<M>(std::forward<A>(arguments)...)));
  }
  /// Throws Unsupported when a child's forward has another signature.
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const ChildEntryPtr& child : detail::child_entries(*this)) {
      check<AttributeError>(child->module != nullptr, "Sequential: \"", child->name,
                            "\" holds no module");
      y = detail::call_as(*child->module, child->name, y);
    }
    return y;
  }
};

}  // namespace tessera::nn
