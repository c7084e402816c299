#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/rnn.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

template <class Options>
Options recurrent_options(const Attributes& a) {
  Options options;
  options.num_layers = a.integer("num_layers", 1);
  options.bias = a.flag("bias", true);
  options.batch_first = a.flag("batch_first", false);
  options.bidirectional = a.flag("bidirectional", false);
  return options;
}

template <class M, class Options>
auto make_layer(const Attributes& a, const Options& options) {
  return nn::make<M>(a.integer("input_size"), a.integer("hidden_size"), options);
}

template <class M>
BuiltLayer layer_of_one_state(const nn::Ptr<M>& module) {
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            const auto [output, last] = module(in["x"], in["h_0"], in["lengths"]);
            return {output, last};
          }};
}

BuiltLayer rnn(const Attributes& a) {
  auto options = recurrent_options<nn::RnnOptions>(a);
  options.nonlinearity =
      a.text("nonlinearity", "tanh") == "relu" ? nn::Nonlinearity::relu : nn::Nonlinearity::tanh;
  return layer_of_one_state(make_layer<nn::RNN>(a, options));
}

BuiltLayer gru(const Attributes& a) {
  return layer_of_one_state(make_layer<nn::GRU>(a, recurrent_options<nn::RecurrentOptions>(a)));
}

BuiltLayer lstm(const Attributes& a) {
  auto options = recurrent_options<nn::RecurrentOptions>(a);
  options.proj_size = a.integer("proj_size", 0);
  const auto module = make_layer<nn::LSTM>(a, options);
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            const nn::LstmState first{in["h_0"], in["c_0"]};
            const auto [output, last] = module(in["x"], first, in["lengths"]);
            return {output, last.first, last.second};
          }};
}

const Counterparts<Layer> kRecurrent{{"RNN", {rnn}}, {"LSTM", {lstm}}, {"GRU", {gru}}};

}  // namespace
}  // namespace tessera::oracle
