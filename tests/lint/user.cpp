// What a user writes with all headers at hand; tests/lint/compilers compiles it.
#include <iostream>

#include <tessera/tessera.h>

using namespace tessera;  // NOLINT: as users do

namespace {

struct Block : nn::Module {
  nn::Child<nn::Linear> inner{this, "inner", 8, 8};
  Tensor forward(const Tensor& x) const { return x + inner(x); }
};

struct Network : nn::Module {
  nn::Child<Block> block{this, "block"};
  nn::Child<nn::Linear> hidden{this, "hidden", 4, 8};
  nn::Child<nn::Linear> out{this, "out", nn::ModuleOptions{.dtype = tessera::DType::f64}, 8, 2};
  nn::Parameter scale{this, "scale", {2}, nn::init::constant(1)};
  nn::Buffer seen{this, "seen", tessera::zeros({2})};
  Tensor forward(const Tensor& x) const { return out(block(relu(hidden(x)))) * scale + seen; }
};

void print(const Network& net) {
  std::cout << net << net.block << net.parameters() << net.buffers();
  std::cout << net.scale << net.seen << 2 * net.scale << net.scale + net.seen << sum(net.scale);
}

void watch(Network& net) {
  net.register_forward_pre_hook([](const nn::Module&, const nn::Args& args) { return args; });
  net.register_forward_hook([](const nn::Module&, const nn::Args&, const nn::Value&) {});
  net.register_forward_hook(
      [](const nn::Module&, const nn::Args&, const nn::Kwargs&, const nn::Value& y) { return y; });
  net.register_full_backward_pre_hook([](const nn::Module&, const nn::Grads&) {});
  net.register_full_backward_hook(
      [](const nn::Module&, const nn::Grads& inputs, const nn::Grads&) { return inputs; });
  tessera::register_gradient_hook(net.scale.value(), [](const Tensor& g) { return g * 2; });
}

void train(const Tensor& images, const Tensor& labels) {
  const auto net = nn::make<Network>();
  watch(*net);
  tessera::optim::SGD sgd(net->parameters(), {.momentum = 0.9});
  tessera::data::DataLoader loader(tessera::data::TensorDataset(images, labels), {.batch_size = 2});
  for (auto& [x, y] : loader) {
    const Tensor loss = cross_entropy((*net)(x), y);
    loss.backward();
    sgd.step();
    if (loss.item() < 0.1 || any(loss > 1e3)) {
      print(*net);
    }
  }
  std::cout << net << nn::summary(net, images) << nn::spec(net, nn::ArraySpec{{8, 4}}).shape;
}

}  // namespace

int main() {
  train(tessera::zeros({4, 4}), tessera::zeros({4}, {.dtype = tessera::DType::i64}));
}
