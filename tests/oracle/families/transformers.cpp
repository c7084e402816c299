#include <tessera/nn/layers/transformer_decoder.h>
#include <tessera/nn/layers/transformer_encoder.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/transformer_options.h"

namespace tessera::oracle {
namespace {

template <class M>
auto make_stack(const Attributes& a) {
  return nn::make<M>(a.integer("num_layers"), a.integer("d_model"), a.integer("nhead"),
                     transformer_options(a), a.flag("final_norm", false));
}

BuiltLayer encoder(const Attributes& a) {
  const auto module = make_stack<nn::TransformerEncoder>(a);
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            return {module(in["src"], nn::AttentionMasks{.mask = in["mask"]})};
          }};
}

BuiltLayer decoder(const Attributes& a) {
  const auto module = make_stack<nn::TransformerDecoder>(a);
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            const nn::AttentionMasks masks{.mask = in["tgt_mask"]};
            return {module(in["tgt"], in["memory"], masks, nn::AttentionMasks{})};
          }};
}

const Counterparts<Layer> kTransformers{{"TransformerEncoder", {encoder}},
                                        {"TransformerDecoder", {decoder}}};

}  // namespace
}  // namespace tessera::oracle
