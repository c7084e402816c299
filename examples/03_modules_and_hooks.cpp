// Modules and hooks: a model is a tree of named modules; hooks see calls and gradients go by.
#include <iostream>

#include <tessera/tessera.h>

namespace nn = tessera::nn;
using tessera::Tensor;

/// One line declares a member: its type, its name, its arguments.
struct Block : nn::Module {
  explicit Block(std::int64_t width) : linear(this, "linear", width, width) {}
  nn::Child<nn::Linear> linear;
  nn::Buffer calls{this, "calls", tessera::zeros({})};

  [[nodiscard]] Tensor forward(const Tensor& x) const {
    calls.assign(calls.value() + 1);  // the only way for a forward to change state
    return x + tessera::relu(linear(x));
  }
};

struct Model : nn::Module {
  nn::Child<Block> first{this, "first", 8};
  nn::Child<Block> second{this, "second", 8};
  nn::Child<nn::Linear> head{this, "head", 8, 2};
  Model() { second->linear->weight.tie(first->linear->weight); }

  [[nodiscard]] Tensor forward(const Tensor& x) const { return head(second(first(x))); }
};

int main() {
  tessera::set_seed(1);
  const auto model = nn::make<Model>();
  std::cout << *model << '\n';
  for (const auto& [name, parameter] : model->named_parameters()) {
    std::cout << name << ' ' << parameter.shape() << '\n';  // a tied weight once
  }

  // A hook on one module, which may change what goes by; it is gone with its scope.
  {
    const tessera::ScopedHandle handle = model->first->register_forward_hook(
        [](const nn::Module& module, const nn::Args&, const nn::Value& output) {
          std::cout << "forward of " << module.class_name() << ": " << output.tensor().shape()
                    << '\n';
        });
    model(tessera::ones({4, 8}));
  }

  // The gradients of a module's inputs and outputs, when they are there.
  auto handle = model->second->register_full_backward_hook(
      [](const nn::Module&, const nn::Grads& inputs, const nn::Grads& outputs) {
        std::cout << "gradient of the input " << inputs[0].shape() << ", of the output "
                  << outputs[0].shape() << '\n';
      });
  tessera::sum(model(tessera::ones({4, 8}))).backward();
  handle.remove();

  // Freezing, casting and moving reach the whole tree; names, ties and optimizers stay valid.
  model->first->requires_grad_(false);
  model->to(tessera::DType::f64);
  std::cout << "still tied: "
            << (model->first->linear->weight.slot() == model->second->linear->weight.slot())
            << ", calls of first: " << model->first->calls.value().item() << '\n';
}
