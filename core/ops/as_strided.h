// Views of a dense tensor by strides, and their gradient. The two ops are each other's gradients,
// so they live in one file.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Where the elements of a view lie in a dense tensor, counted in elements from its first one.
struct StridedView {
  Shape shape{};
  Strides strides{};
  std::int64_t offset = 0;
  MicrobatchLayout
      microbatches{};  ///< of the view, where the dense tensor holds several microbatches
  void fields(auto&& see) const {
    see("shape", shape), see("strides", strides), see("offset", offset),
        see("microbatches", microbatches);
  }
  friend bool operator==(const StridedView&, const StridedView&) = default;
};

/// `view` in each microbatch of what exists once a microbatch, as `layout` says, and is dense,
/// `step` elements a microbatch; `view` as it is without a layout, or when it knows its own. Throws
/// Unsupported that names `op` for any other layout: strides mean nothing in a part of the samples.
[[nodiscard]] StridedView in_each_microbatch(const char* op, StridedView view,
                                             const MicrobatchLayout& layout, std::int64_t step);

/// Throws InvalidArgument that names `op` when elements of the view lie outside of a dense tensor
/// of `shape`.
void check_view_inside(const char* op, const StridedView& view, const Shape& shape);

struct AsStrided {
  static constexpr OpInfo info{.name = "as_strided",
                               .doc = "a view of a dense tensor, by strides",
                               .view = true,
                               .sees_microbatches = true};
  using Attrs = StridedView;
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

struct StridedSum {
  static constexpr OpInfo info{.name = "strided_sum",
                               .doc = "zeros with x added where a strided view lies",
                               .sees_microbatches = true};
  struct Attrs {
    Shape shape;  ///< of the dense result
    StridedView view;
    MicrobatchLayout microbatches{};  ///< of the dense result, where x holds several microbatches
    void fields(auto&& see) const {
      see("shape", shape), see("view", view), see("microbatches", microbatches);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// The elements of `x`, which must be contiguous, that `view` names, as a view; they may repeat.
/// Throws InvalidArgument when some lie outside of x, or of a microbatch of x.
[[nodiscard]] Tensor as_strided(const Tensor& x, const StridedView& view);

/// Zeros of `shape` to which x, in the shape of `view`, is added where the view's elements lie; if
/// x holds several microbatches, so does the result, as `layout` says.
[[nodiscard]] Tensor strided_sum(const Tensor& x, const Shape& shape, const StridedView& view,
                                 const MicrobatchLayout& layout = {});

}  // namespace tessera
