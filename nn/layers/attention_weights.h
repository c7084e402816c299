// Weights of attention with several heads.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// Weights of attention with rows of E numbers; what is undefined is none.
struct AttentionWeights {
  Tensor in_proj_weight = {};   ///< (3 E, E): of queries, keys and values; or these three:
  Tensor q_proj_weight = {};    ///< (E, E)
  Tensor k_proj_weight = {};    ///< (E, kdim)
  Tensor v_proj_weight = {};    ///< (E, vdim)
  Tensor in_proj_bias = {};     ///< (3 E)
  Tensor bias_k = {};           ///< (1, 1, E): one more key
  Tensor bias_v = {};           ///< (1, 1, E): one more value
  Tensor out_proj_weight = {};  ///< (E, E)
  Tensor out_proj_bias = {};    ///< (E)
};

/// The widths of rows of queries, keys and values.
struct AttentionWidths {
  std::int64_t embed, key, value;
};

/// Throws InvalidArgument, naming the part, where `weights` do not fit each other.
[[nodiscard]] AttentionWidths widths_of(const AttentionWeights& weights);

}  // namespace tessera::nn
