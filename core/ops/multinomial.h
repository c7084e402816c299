// Drawing classes at random.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Multinomial {
  static constexpr OpInfo info{.name = "multinomial",
                               .doc = "classes drawn with the probabilities in rows",
                               .differentiable = false};
  struct Attrs {
    std::int64_t count = 1;      ///< draws a row, with replacement
    std::uint64_t key = 0;       ///< of the draw
    std::int64_t first_row = 0;  ///< number of the first row among all rows of the global batch
    void fields(auto&& see) const {
      see("count", count), see("key", key), see("first_row", first_row);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output);
};

/// `count` classes, drawn with replacement, for every row of `probabilities` (..., V), which need
/// not add up to 1: (..., count) i64. Keyed as dropout is (random_scope.h).
/// Throws InvalidArgument for a row with a negative, infinite or NaN probability, or with none
/// above 0.
[[nodiscard]] Tensor multinomial(const Tensor& probabilities, std::int64_t count = 1);

}  // namespace tessera
