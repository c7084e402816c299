// Adding rows to a matrix: the gradient of an embedding.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct AddRows {
  static constexpr OpInfo info{.name = "add_rows",
                               .doc = "x with values[i] added to row ids[i]",
                               .sees_microbatches = true,
                               .saved_inputs = 0b010};
  struct Attrs {
    std::int64_t rows = 0;              ///< of the result
    std::int32_t microbatch_count = 1;  ///< microbatches in `ids`, equal blocks in order
    void fields(auto&& see) const { see("rows", rows), see("microbatch_count", microbatch_count); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// `x` (rows, width), or zeros when undefined, with `values` (..., width) added to the rows that
/// `ids` (...) name. Values of one row are added in order inside a microbatch, the microbatches'
/// sums along the tree, and the total to x last. Throws InvalidArgument for an id outside [0,
/// rows).
[[nodiscard]] Tensor add_rows(const Tensor& x, const Tensor& ids, const Tensor& values,
                              const AddRows::Attrs& attrs);

}  // namespace tessera
