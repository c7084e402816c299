// Sums, means or largest elements of rows of a matrix, without making the rows.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

enum class BagMode : std::uint8_t { sum, mean, max };

std::ostream& operator<<(std::ostream&, BagMode);

struct BagAttrs {
  BagMode mode = BagMode::mean;
  bool include_last_offset = false;  ///< the last offset is where the last bag ends
  std::int64_t padding_idx = -1;     ///< ids that do not count; -1: none
  void fields(auto&& see) const {
    see("mode", mode), see("include_last_offset", include_last_offset),
        see("padding_idx", padding_idx);
  }
  friend bool operator==(const BagAttrs&, const BagAttrs&) = default;
};

/// Inputs: weight, ids, offsets and weights of the ids; the last two may be missing. Outputs: the
/// bags and, for max, the index in its bag that each element comes from, -1 in empty bags.
struct EmbeddingBag {
  static constexpr OpInfo info{.name = "embedding_bag",
                               .doc = "bags of rows of `weight` reduced to one row each",
                               .sparse_gradients = 0b0001,
                               .saved_inputs = 0b1111,
                               .saved_outputs = 0b10};
  using Attrs = BagAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient of the bags, then those of EmbeddingBag, then the indices. Outputs: the
/// gradient of the row of every id and, when the ids have weights, of those. Its own gradient is
/// Unsupported.
struct EmbeddingBagBackward {
  static constexpr OpInfo info{.name = "embedding_bag_backward",
                               .doc = "the gradient of embedding_bag for every id"};
  using Attrs = BagAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// weight (rows, width) and ids, integers, in bags -> (bags, width). Bags are the rows of ids
/// (bags, length), or, with `offsets` (bags), ids (count) from each offset to the next. An empty
/// bag gives zeros. `per_sample_weights`, of the shape of ids and for sums only, multiply the rows.
/// The gradient of the weight is kept as rows. Throws InvalidArgument for ids outside [0, rows) and
/// offsets that do not begin with 0, fall, or go beyond the ids.
[[nodiscard]] Tensor embedding_bag(const Tensor& weight, const Tensor& ids,
                                   const Tensor& offsets = {}, const BagAttrs& options = {},
                                   const Tensor& per_sample_weights = {});

}  // namespace tessera
