// Taking tensors that hold several microbatches apart, and putting them together again. The four
// ops are each other's gradients, so they live in one file.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct UnbindMicrobatches {
  static constexpr OpInfo info{.name = "unbind_microbatches",
                               .doc = "the microbatches of a cut tensor, as views",
                               .view = true,
                               .sees_cut = true};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

struct JoinMicrobatches {
  static constexpr OpInfo info{.name = "join_microbatches",
                               .doc = "one tensor a microbatch, joined along a dim or stacked",
                               .sees_cut = true};
  struct Attrs {
    int dim = -1;
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

struct SumMicrobatches {
  static constexpr OpInfo info{.name = "sum_microbatches",
                               .doc = "stacked pieces, added along the tree over microbatches",
                               .sees_cut = true};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

struct RepeatMicrobatches {
  static constexpr OpInfo info{.name = "repeat_microbatches",
                               .doc = "a value stacked once a microbatch, as a view",
                               .view = true,
                               .sees_cut = true};
  struct Attrs {
    std::int32_t parts = 1;
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// The microbatches of a cut tensor, as views without a cut.
[[nodiscard]] Outputs unbind_microbatches(const Tensor& x);

/// Joins one tensor a microbatch: along `dim`, or stacked in a new dim 0 when `dim` is -1.
[[nodiscard]] Tensor join_microbatches(std::span<const TensorRef> pieces, int dim);

/// Adds the stacked pieces of `x` (parts, ...) along the balanced binary tree over microbatches.
[[nodiscard]] Tensor sum_microbatches(const Tensor& x, const Tensor& destination = {});

/// Stacks `parts` copies of `x` without copying.
[[nodiscard]] Tensor repeat_microbatches(const Tensor& x, std::int32_t parts);

}  // namespace tessera
