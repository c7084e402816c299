// Ids in bags, as embedding_bag and its gradient take them: weight, ids, offsets and weights of the
// ids, of which the last two may be missing.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/ops/embedding_bag.h>

namespace tessera {

/// Checks the four inputs from `first` on; gives the number of bags.
[[nodiscard]] std::int64_t check_bags(const Infer& c, int first, const BagAttrs& attrs);

/// Labels of the four inputs from `first` on: bags of equal length can be cut, and the width can
/// where ids have no weights of their own.
[[nodiscard]] InlineVector<DimLabels, 4> bag_labels(const Infer& c, int first);
/// Labels of an output with one row a bag.
[[nodiscard]] DimLabels bag_output_labels(const Infer& c, int first);

/// Which ids lie in which bag.
class Bags {
 public:
  /// Reads the bags from the inputs from `first` on. Throws InvalidArgument for offsets that do not
  /// begin with 0, fall or go beyond the ids, and for ids that are no rows of the weight.
  Bags(const Kernel& k, int first, const BagAttrs& attrs);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(edges_.size()) - 1; }
  [[nodiscard]] std::int64_t begin(std::int64_t bag) const {
    return edges_[static_cast<std::size_t>(bag)];
  }
  [[nodiscard]] std::int64_t end(std::int64_t bag) const { return begin(bag + 1); }
  [[nodiscard]] std::int64_t id(std::int64_t i) const { return ids_[static_cast<std::size_t>(i)]; }
  /// False for padding.
  [[nodiscard]] bool counts(std::int64_t i) const { return id(i) != padding_; }
  /// What a mean is divided by: the number of ids that count, at least 1.
  [[nodiscard]] double divisor(std::int64_t bag) const;

 private:
  std::int64_t padding_;
  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> edges_;  ///< where each bag begins, and the last one ends
};

}  // namespace tessera
