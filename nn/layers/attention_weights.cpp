#include <tessera/nn/layers/attention_weights.h>

namespace tessera::nn {
namespace {

/// Throws InvalidArgument unless `part` is undefined or has `expected` shape.
void check_part(const char* part, const Tensor& weight, const Shape& expected) {
  if (weight.defined() && weight.shape() != expected) {
    fail<InvalidArgument>("multi_head_attention_forward: wrong ", part, "; got ", weight.shape(),
                          ", expected ", expected);
  }
}

std::int64_t last_of_two(const char* part, const Tensor& weight) {
  check(weight.defined() && weight.ndim() == 2, "multi_head_attention_forward: ", part,
        " needs 2 dims");
  return weight.size(1);
}

}  // namespace

AttentionWidths widths_of(const AttentionWeights& weights) {
  AttentionWidths widths{};
  if (weights.in_proj_weight.defined()) {
    widths.embed = last_of_two("in_proj_weight", weights.in_proj_weight);
    widths.key = widths.value = widths.embed;
    check_part("in_proj_weight", weights.in_proj_weight, {3 * widths.embed, widths.embed});
  } else {
    widths = {.embed = last_of_two("q_proj_weight", weights.q_proj_weight),
              .key = last_of_two("k_proj_weight", weights.k_proj_weight),
              .value = last_of_two("v_proj_weight", weights.v_proj_weight)};
    check_part("q_proj_weight", weights.q_proj_weight, {widths.embed, widths.embed});
    check_part("k_proj_weight", weights.k_proj_weight, {widths.embed, widths.key});
    check_part("v_proj_weight", weights.v_proj_weight, {widths.embed, widths.value});
  }
  check_part("in_proj_bias", weights.in_proj_bias, {3 * widths.embed});
  check_part("bias_k", weights.bias_k, {1, 1, widths.embed});
  check_part("bias_v", weights.bias_v, {1, 1, widths.embed});
  check_part("out_proj_weight", weights.out_proj_weight, {widths.embed, widths.embed});
  check_part("out_proj_bias", weights.out_proj_bias, {widths.embed});
  check(weights.bias_k.defined() == weights.bias_v.defined(),
        "multi_head_attention_forward: bias_k and bias_v come together");
  return widths;
}

}  // namespace tessera::nn
