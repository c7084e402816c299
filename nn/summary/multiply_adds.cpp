#include <tessera/nn/summary/multiply_adds.h>

#include <unordered_map>

#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/recurrent.h>

namespace tessera::nn {
namespace {

using Count = std::int64_t (*)(const OpNode&);

const Shape& input(const OpNode& node, std::size_t i) {
  return node.input_meta(i).shape;
}

std::int64_t outputs_of(const OpNode& node) {
  return numel_of(node.outputs[0].shape);
}

/// Products for each element of dim 0 of a weight.
std::int64_t row_of(const Shape& weight) {
  return numel_of(weight) / weight[0];
}

std::int64_t matmul(const OpNode& node) {
  const auto& attrs = tessera::detail::attrs_of<Matmul>(node.attrs.get());
  const Shape& a = input(node, 0);
  return outputs_of(node) * a[a.size() - (attrs.transpose_a ? 2 : 1)];
}

std::int64_t packed_attention(const OpNode& node) {
  return 2 * outputs_of(node) * input(node, 0)[1];
}

const std::unordered_map<const OpDef*, Count>& counts() {
  static const std::unordered_map<const OpDef*, Count> table{
      {&op_def<Linear>(), [](const OpNode& n) { return outputs_of(n) * input(n, 1)[1]; }},
      {&op_def<Matmul>(), matmul},
      {&op_def<Convolution>(), [](const OpNode& n) { return outputs_of(n) * row_of(input(n, 1)); }},
      {&op_def<ConvolutionBackwardInput>(),
       [](const OpNode& n) { return numel_of(input(n, 0)) * row_of(input(n, 1)); }},
      {&op_def<Attention>(), [](const OpNode& n) { return 2 * outputs_of(n) * input(n, 1)[2]; }},
      {&op_def<PackedAttention>(), packed_attention},
      {&op_def<Recurrent>(),
       [](const OpNode& n) { return numel_of(input(n, 0)) * row_of(input(n, 1)); }},
      {&op_def<LinearCrossEntropy>(),
       [](const OpNode& n) { return numel_of(input(n, 0)) * input(n, 1)[0]; }},
  };
  return table;
}

}  // namespace

std::int64_t multiply_adds_of(const OpNode& node) {
  const auto found = counts().find(node.op);
  return found == counts().end() ? 0 : found->second(node);
}

}  // namespace tessera::nn
