// How the losses of elements or samples become the result, and what all losses ask of their inputs.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <tessera/core/ops/cross_entropy.h>

namespace tessera {

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(LossReduction /*of_this_type*/) {
  return std::array<std::string_view, 3>{"mean", "sum", "none"};
}

}  // namespace tessera

namespace tessera::nn {

/// `mean` over all losses, their `sum`, or `none`: the losses themselves. Means and sums are formed
/// for each microbatch by itself.
using Reduction = LossReduction;

/// `losses` as `reduction` says.
[[nodiscard]] Tensor reduce(const Tensor& losses, Reduction reduction);

/// `x` in the dtype in which losses are computed: 16-bit floats become f32, as under PyTorch's
/// autocast.
[[nodiscard]] Tensor widened(const Tensor& x);

/// Throws ValueError naming `op` unless both have one shape: broadcasting (8, 1) with (8) would
/// train on 64 pairs.
void check_same_shape(const char* op, const Tensor& input, const Tensor& target);

/// Input and target, widened and alike in their microbatches. Throws as check_same_shape does.
[[nodiscard]] std::pair<Tensor, Tensor> widened_alike(const char* op, const Tensor& input,
                                                      const Tensor& target);

/// Throws ValueError naming `op` unless `weight`, where it is there, broadcasts to the shape of
/// `input`: a larger one would repeat the losses.
void check_weight(const char* op, const char* name, const Tensor& weight, const Tensor& input);

}  // namespace tessera::nn
