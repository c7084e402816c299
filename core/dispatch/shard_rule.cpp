#include <tessera/core/dispatch/shard_rule.h>

namespace tessera {

AxisUse follow(const ShardRule& rule, std::span<const std::int8_t> input_dims) {
  AxisUse use;
  for (std::size_t i = 0; i < input_dims.size() && use.conflict < 0; ++i) {
    if (input_dims[i] < 0) {
      continue;
    }
    const std::int8_t found = rule.inputs[i][input_dims[i]];
    const bool fits = use.label == DimLabels::kWhole || use.label == found;
    if (found == DimLabels::kWhole || !fits) {
      use.conflict = static_cast<std::int8_t>(i);
    } else {
      use.label = found;
    }
  }
  for (const DimLabels& output : rule.outputs) {
    const int dim = use.label == DimLabels::kWhole ? -1 : output.find(use.label);
    use.output_dims.push_back(static_cast<std::int8_t>(dim));
    use.sums |= use.label != DimLabels::kWhole && dim < 0;
  }
  return use;
}

}  // namespace tessera
