#include <tessera/core/ops/block_squares.h>

#include <algorithm>
#include <vector>

#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void BlockSquares::infer(Infer& c, const Attrs&) {
  check_at_least("block_squares", "number of tensors", c.input_count(), 1);
  std::int64_t count = 0;
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& x = c.input(i);
    check_floating("block_squares", "a tensor", x.dtype());
    check_dense("block_squares", x);
    count += blocks(x.numel());
  }
  c.add_output({count}, DType::f64);
}

void BlockSquares::reference(Kernel& k, const Attrs&) {
  auto* next = k.output().data<double>();
  for (int i = 0; i < k.input_count(); ++i) {
    const TensorImpl& x = k.input(i);
    for (std::int64_t first = 0; first < x.numel(); first += kBlock) {
      double sum = 0;
      for (std::int64_t j = first; j < std::min(first + kBlock, x.numel()); ++j) {
        const auto value = load_as<double>(x, j);
        sum += value * value;
      }
      *next++ = sum;
    }
  }
}

ShardRule BlockSquares::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (int i = 0; i < c.input_count(); ++i) {
    rule.inputs.push_back(DimLabels(c.input(i).ndim()));
  }
  rule.outputs.push_back(DimLabels(1));
  return rule;
}

Tensor block_squares(std::span<const Tensor> tensors) {
  return call<BlockSquares>(std::vector<TensorRef>(tensors.begin(), tensors.end()));
}

const Register<BlockSquares> register_block_squares;

}  // namespace tessera
