#include <tessera/core/ops/block_squares.h>

#include <algorithm>
#include <vector>

#include <tessera/core/tensor/elements.h>

namespace tessera {

void BlockSquares::infer(Infer& c, const Attrs&) {
  check(c.input_count() > 0, "block_squares: no tensor");
  for (int i = 0; i < c.input_count(); ++i) {
    const Tensor& x = c.input(i);
    check(is_floating(x.dtype()), "block_squares: wrong dtype; got ", x.dtype(),
          ", expected f16, bf16, f32 or f64");
    check(x.is_contiguous(), "block_squares: needs dense tensors; got strides ", x.strides());
    c.add_output({(x.numel() + kBlock - 1) / kBlock}, DType::f64);
  }
}

void BlockSquares::reference(Kernel& k, const Attrs&) {
  for (int i = 0; i < k.input_count(); ++i) {
    const TensorImpl& x = k.input(i);
    auto* sums = k.output(i).data<double>();
    for (std::int64_t first = 0; first < x.numel(); first += kBlock) {
      double sum = 0;
      for (std::int64_t j = first; j < std::min(first + kBlock, x.numel()); ++j) {
        const auto value = load_as<double>(x, j);
        sum += value * value;
      }
      sums[first / kBlock] = sum;
    }
  }
}

ShardRule BlockSquares::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (int i = 0; i < c.input_count(); ++i) {
    rule.inputs.push_back(DimLabels(c.input(i).ndim()));
    rule.outputs.push_back(DimLabels(1));
  }
  return rule;
}

Outputs block_squares(std::span<const Tensor> tensors) {
  std::vector<TensorRef> inputs;
  for (const Tensor& x : tensors) {
    inputs.push_back(x);
  }
  Outputs outputs;
  const BlockSquares::Attrs attrs;
  call(op_def<BlockSquares>(), inputs, &attrs, outputs);
  return outputs;
}

namespace {
const Register<BlockSquares> registered;
}

}  // namespace tessera
