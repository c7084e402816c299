// Arguments that Transformer layers and stacks of them share.
#pragma once

#include <tessera/nn/layers/transformer_layer.h>

#include "oracle/support/fixture.h"

namespace tessera::oracle {

[[nodiscard]] inline nn::TransformerLayerOptions transformer_options(const Attributes& a) {
  const bool gelu = a.text("activation", "relu") == "gelu";
  return {.dim_feedforward = a.integer("dim_feedforward"),
          .dropout = a.number("dropout", 0.1),
          .activation = gelu ? nn::TransformerActivation::gelu : nn::TransformerActivation::relu,
          .layer_norm_eps = a.number("layer_norm_eps", 1e-5),
          .batch_first = a.flag("batch_first", false),
          .norm_first = a.flag("norm_first", false),
          .bias = a.flag("bias", true)};
}

}  // namespace tessera::oracle
