// Pieces of an op's call: what its shard rule lets be cut, cut along labels, and run.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "support/op_case.h"

#include <tessera/core/dispatch/shard_rule.h>
#include <tessera/core/tensor/box.h>

namespace tessera::test {

/// Some of the `total` equal parts into which everything along a label can be cut.
struct Stretch {
  std::int8_t label = 0;
  std::int64_t first = 0;
  std::int64_t size = 0;
  std::int64_t total = 1;
};
using Stretches = std::vector<Stretch>;

/// Labels of the inputs of a rule.
[[nodiscard]] std::set<std::int8_t> labels_of(const ShardRule& rule);

/// One sample of a case, run whole.
struct WholeCall {
  WholeCall(const OpCaseData& op_case, std::vector<Tensor> given,
            std::shared_ptr<const void> its_attrs);

  /// Into how many equal parts everything along `label` can be cut.
  [[nodiscard]] std::int64_t parts_along(std::int8_t label) const;
  /// The part of output `o` along `stretches`.
  [[nodiscard]] Tensor part_of_output(std::size_t o, const Stretches& stretches) const;
  /// What lies along `stretches` of the inputs.
  [[nodiscard]] std::vector<Tensor> inputs_along(const Stretches& stretches) const;
  /// Outputs of the call on what lies along `stretches` of the inputs, with the attributes that the
  /// op says.
  [[nodiscard]] Outputs run_piece(const Stretches& stretches) const;

  const OpCaseData& c;
  std::vector<Tensor> inputs;
  std::shared_ptr<const void> attrs;
  ShardRule rule;
  std::vector<Tensor> outputs;
};

/// How `total` parts along a label are dealt out: as ceiling division deals them to 2, 3 and 4
/// ranks, those without any left out, and at last one against all others.
[[nodiscard]] std::vector<Stretches> dealings(std::int8_t label, std::int64_t total);

}  // namespace tessera::test
