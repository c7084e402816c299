// A tensor after a write through one of its views.
#pragma once

#include <tessera/core/ops/as_strided.h>

namespace tessera {

struct ViewScatter {
  static constexpr OpInfo info{.name = "view_scatter",
                               .doc = "x with the elements of a strided view replaced by y",
                               .sees_microbatches = true};
  using Attrs = StridedView;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// A dense copy of x in which the elements that `view` names (each once) are those of y.
/// Assignments into views appear on the tape as this op; their kernel never runs, since the write
/// took place.
[[nodiscard]] Tensor view_scatter(const Tensor& x, const Tensor& y, const StridedView& view);

}  // namespace tessera
