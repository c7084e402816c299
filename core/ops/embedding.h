// Rows of a matrix by number.
#pragma once

#include <optional>

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Embedding {
  static constexpr OpInfo info{.name = "embedding",
                               .doc = "the rows of `weight` that `ids` name",
                               .sparse_gradients = 0b01,
                               .saved_inputs = 0b10};
  struct Attrs {
    std::int64_t padding_idx = -1;  ///< the row that gets no gradient; -1: none
    void fields(auto&& see) const { see("padding_idx", padding_idx); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs&);
};

/// weight (rows, width), ids (...) of any integer dtype -> (..., width). The gradient of the weight
/// is kept as rows (SparseGradient), and is 0 for the row `padding_idx`, which may count from the
/// end. Throws InvalidArgument for an id outside [0, rows).
[[nodiscard]] Tensor embedding(const Tensor& weight, const Tensor& ids,
                               std::optional<std::int64_t> padding_idx = {});

}  // namespace tessera
