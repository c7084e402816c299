// Lazy building: sizes that the first input tells, models made when they are wanted, and models on
// variables that are there already.
#include <iostream>

#include <tessera/tessera.h>

namespace nn = tessera::nn;
using tessera::Tensor;

/// No size of the input is written down.
struct Classifier : nn::Module {
  nn::Child<nn::LazyConv2d> conv{this, "conv", 8, 3};
  nn::Child<nn::LazyBatchNorm2d> norm{this, "norm"};
  nn::Child<nn::LazyLinear> head{this, "head", 10};

  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return head(tessera::flatten(tessera::relu(norm(conv(x))), 1));
  }
};

struct Mlp : nn::Module {
  nn::Child<nn::Linear> hidden{this, "hidden", 4, 8};
  nn::Child<nn::Linear> out{this, "out", 8, 2};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return out(tessera::tanh(hidden(x))); }
};

int main() {
  tessera::set_seed(1);
  const auto lazy = nn::make<Classifier>();
  tessera::optim::SGD optimizer(lazy->parameters(), {.lr = 0.1});  // may be made before
  std::cout << "before its first call\n" << *lazy << '\n';
  lazy(tessera::randn({2, 3, 8, 8}));
  std::cout << "after it\n" << *lazy << '\n';

  // Made when `build` is called, in f64. The values are those that `make` would have given.
  const auto later = nn::make<Mlp>(
      nn::ModuleOptions{.dtype = tessera::DType::f64, .build_mode = nn::BuildMode::explicitly});
  try {
    later(tessera::ones({1, 4}));
  } catch (const tessera::Error& error) {
    std::cout << "too early: " << error.what() << '\n';
  }
  const nn::BuildStatus status = later->build();
  std::cout << "built: " << status.complete << ", " << status.variables.leaves().size()
            << " parameters\n";

  // A model on given variables; what does not fit is said at once, all of it.
  nn::Variables variables = nn::make<Mlp>()->v();
  const auto given = nn::make<Mlp>(nn::ModuleOptions{.v = variables});
  std::cout << "shares memory: "
            << given->out->bias.value().shares_storage(variables.at("out.bias")) << '\n';
  variables.set("out.bias", tessera::ones({3}));
  variables.set("extra", tessera::ones({3}));
  try {
    nn::make<Mlp>(nn::ModuleOptions{.v = variables});
  } catch (const tessera::StructureError& error) {
    std::cout << error.what() << '\n';
  }

  // A model that keeps no parameters: every call is given them.
  const auto hollow = nn::make<Mlp>(
      nn::ModuleOptions{.build_mode = nn::BuildMode::explicitly, .store_vars = false});
  const nn::Variables own = hollow->build().variables;
  std::cout << "with v: " << hollow(tessera::ones({1, 4}), nn::CallOptions{.v = &own}).shape()
            << '\n';
}
