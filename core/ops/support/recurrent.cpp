#include <tessera/core/ops/support/recurrent.h>

#include <tessera/core/ops/support/dense.h>

namespace tessera {

void check_optional(const Infer& c, int i, const Shape& shape, const char* name) {
  if (c.has_input(i)) {
    check(c.input(i).shape() == shape && is_floating(c.input(i).dtype()), c.op(), ": wrong ", name,
          "; got ", c.input(i).shape(), " ", c.input(i).dtype(), ", expected ", shape,
          " of a floating dtype");
  }
}

void check_lengths(const Infer& c, int i, std::int64_t batch) {
  if (c.has_input(i)) {
    const DType dtype = c.input(i).dtype();
    check(c.input(i).shape() == Shape{batch} && !is_floating(dtype) && !is_complex(dtype) &&
              dtype != DType::boolean,
          c.op(), ": wrong lengths; got ", c.input(i).shape(), " ", dtype, ", expected ",
          Shape{batch}, " of an integer dtype");
  }
}

std::vector<std::int64_t> lengths_of(const Kernel& k, int i, std::int64_t batch,
                                     std::int64_t steps) {
  if (!k.has_input(i)) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(batch), steps);
  }
  std::vector<std::int64_t> lengths = dense_values<std::int64_t>(k.input(i));
  for (const std::int64_t length : lengths) {
    check(length >= 0 && length <= steps, k.op(), ": a length out of range; got ", length,
          ", expected one in [0, ", steps, "]");
  }
  return lengths;
}

ShardRule sequences_rule(const Infer& c, int weight, int bias) {
  ShardRule rule;
  for (int i = 0; i < c.input_count(); ++i) {
    DimLabels& labels = rule.inputs.emplace_back(c.has_input(i) ? c.input(i).ndim() : 0);
    if (c.has_input(i) && i != weight && i != bias) {
      labels[0] = 0;
    }
  }
  for (const OutputSpec& output : c.outputs()) {
    rule.outputs.emplace_back(output.shape.size())[0] = 0;
  }
  return rule;
}

}  // namespace tessera
