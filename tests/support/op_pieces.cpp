#include "support/op_pieces.h"

#include <algorithm>
#include <numeric>

#include "support/op_tools.h"

namespace tessera::test {
namespace {

/// Greatest common divisor of `parts` and the sizes of the dims with `label`.
std::int64_t common_parts(const std::vector<Tensor>& tensors, std::span<const DimLabels> dims,
                          std::int8_t label, std::int64_t parts) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (int d = 0; d < dims[i].size; ++d) {
      parts = dims[i][d] == label ? std::gcd(parts, tensors[i].shape()[d]) : parts;
    }
  }
  return parts;
}

/// What lies along `stretches` of a tensor of `shape`.
Box box_along(const Shape& shape, const DimLabels& dims, const Stretches& stretches) {
  Box box = Box::all_of(shape);
  for (const Stretch& s : stretches) {
    for (int d = 0; d < dims.size; ++d) {
      if (dims[d] == s.label) {
        const std::int64_t part = shape[d] / s.total;
        box = box.part(d, s.first * part, s.size * part);
      }
    }
  }
  return box;
}

}  // namespace

std::set<std::int8_t> labels_of(const ShardRule& rule) {
  std::set<std::int8_t> labels;
  for (const DimLabels& input : rule.inputs) {
    for (int d = 0; d < input.size; ++d) {
      labels.insert(input[d]);
    }
  }
  labels.erase(DimLabels::kWhole);
  return labels;
}

WholeCall::WholeCall(const OpCaseData& op_case, std::vector<Tensor> given,
                     std::shared_ptr<const void> its_attrs)
    : c(op_case),
      inputs(std::move(given)),
      attrs(std::move(its_attrs)),
      rule(shard_rule_of(*c.op, inputs, attrs.get())) {
  const Outputs results = run_op(*c.op, inputs, attrs.get());
  outputs.assign(results.begin(), results.end());
}

std::int64_t WholeCall::parts_along(std::int8_t label) const {
  return common_parts(outputs, rule.outputs, label, common_parts(inputs, rule.inputs, label, 0));
}

Tensor WholeCall::part_of_output(std::size_t o, const Stretches& stretches) const {
  return box_of(outputs[o], box_along(outputs[o].shape(), rule.outputs[o], stretches));
}

std::vector<Tensor> WholeCall::inputs_along(const Stretches& stretches) const {
  std::vector<Tensor> pieces = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) {
      const Box box = box_along(inputs[i].shape(), rule.inputs[i], stretches);
      const Tensor piece = box_of(inputs[i], box);
      pieces[i] = c.strides ? piece : converted(piece, piece.dtype());
    }
  }
  return pieces;
}

Outputs WholeCall::run_piece(const Stretches& stretches) const {
  const Box output = box_along(outputs[0].shape(), rule.outputs[0], stretches);
  return run_op(*c.op, inputs_along(stretches), localised(*c.op, attrs.get(), output).get());
}

std::vector<Stretches> dealings(std::int8_t label, std::int64_t total) {
  std::vector<Stretches> all;
  for (const std::int64_t ranks : {2, 3, 4}) {
    const std::int64_t most = (total + ranks - 1) / ranks;
    Stretches& dealt = all.emplace_back();
    for (std::int64_t first = 0; first < total; first += most) {
      dealt.push_back({label, first, std::min(most, total - first), total});
    }
  }
  all.push_back({{label, 0, 1, total}, {label, 1, total - 1, total}});
  return all;
}

}  // namespace tessera::test
