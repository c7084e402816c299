// Taking tensors that hold several microbatches apart, and putting them together again. The
// ops are each other's gradients, so they live in one file.
#pragma once

#include <array>
#include <span>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/microbatch_shape.h>

namespace tessera {

struct UnbindMicrobatches {
  static constexpr OpInfo info{.name = "unbind_microbatches",
                               .doc = "the microbatches of a tensor, as views",
                               .view = true,
                               .sees_microbatches = true};
  using Attrs = NoAttrs;
  static void infer(Infer& c, const Attrs&);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

struct JoinMicrobatches {
  static constexpr OpInfo info{.name = "join_microbatches",
                               .doc = "one tensor a microbatch, joined along a dim or stacked",
                               .sees_microbatches = true};
  struct Attrs {
    int dim = -1;              ///< along which to join, or -1: stacked
    std::int8_t samples = -1;  ///< of the stacked result (MicrobatchLayout::samples)
    void fields(auto&& see) const { see("dim", dim), see("samples", samples); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

struct SumMicrobatches {
  static constexpr OpInfo info{.name = "sum_microbatches",
                               .doc = "stacked pieces, added along the tree over microbatches",
                               .sees_microbatches = true};
  using Attrs = NoAttrs;
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

struct RepeatMicrobatches {
  static constexpr OpInfo info{.name = "repeat_microbatches",
                               .doc = "a value stacked once a microbatch, as a view",
                               .view = true,
                               .sees_microbatches = true};
  struct Attrs {
    std::int32_t count = 1;
    void fields(auto&& see) const { see("count", count); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

struct AsMicrobatches {
  static constexpr OpInfo info{.name = "as_microbatches",
                               .doc = "a tensor with an entry a sample, told where it is cut",
                               .view = true,
                               .sees_microbatches = true};
  struct Attrs {
    std::int32_t count = 1;
    int dim = 0;
    bool per_microbatch = false;  ///< dim 0 holds one entry a microbatch
    std::int8_t samples = -1;     ///< MicrobatchLayout::samples
    void fields(auto&& see) const {
      see("count", count), see("dim", dim), see("per_microbatch", per_microbatch),
          see("samples", samples);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs&);
  static void vjp(Vjp& v, const Attrs&);
};

/// The microbatches of `x`, as views that know no others.
[[nodiscard]] Outputs unbind_microbatches(const Tensor& x);

/// Joins one tensor a microbatch: along `dim`, or stacked in a new dim 0 when `dim` is -1, where
/// dim `samples` of a piece holds its samples (-1: none does).
[[nodiscard]] Tensor join_microbatches(std::span<const TensorRef> pieces, int dim,
                                       int samples = -1);

/// Joins one tensor a microbatch as `layout` says.
[[nodiscard]] inline Tensor join_microbatches(std::span<const TensorRef> pieces,
                                              const MicrobatchLayout& layout) {
  return join_microbatches(pieces, layout.per_microbatch ? -1 : layout.dim, layout.samples);
}

/// The microbatches of `x` one behind the other, in a new dim 0: a stacked copy.
[[nodiscard]] Tensor stack_microbatches(const Tensor& x);

/// Where one of `values` exists once a microbatch, stacks those that hold samples, too: copies.
void stack_alike(std::span<Tensor> values);

/// The values, as `stack_alike` leaves them: functions that compare the shapes of their inputs find
/// those of one microbatch. Undefined ones stay so.
template <class... T>
[[nodiscard]] std::array<Tensor, sizeof...(T)> stacked_alike(const T&... values) {
  std::array<Tensor, sizeof...(T)> all{values...};
  stack_alike(all);
  return all;
}

/// The microbatches of `x` one behind the other along dim `dim` of a microbatch: a copy.
[[nodiscard]] Tensor lay_microbatches(const Tensor& x, int dim);

/// `x` with the borders of `like`: where it came stacked of them, since a gradient was scaled by
/// what exists once a microbatch, it is again one along the samples, and where it has the shape of
/// `like` and no borders, as what was made of that shape or read back from a file, it gets them.
[[nodiscard]] Tensor lay_as(Tensor x, const Tensor& like);

/// Adds the stacked pieces of `x` (count, ...) along the balanced binary tree over microbatches.
[[nodiscard]] Tensor sum_microbatches(const Tensor& x, const Tensor& destination = {});

/// `x`, which has an entry for each sample of the pass along dim `dim` but does not know it, as a
/// view that is cut into `count` microbatches there. Gradients that reach `x` are cut like that.
[[nodiscard]] Tensor as_microbatches(const Tensor& x, std::int32_t count, int dim);

/// `x`, which has the shape of what lies between the borders `layout` but does not know them, as a
/// view that does.
[[nodiscard]] Tensor with_borders(const Tensor& x, const MicrobatchLayout& layout);

/// Stacks `count` copies of `x` without copying.
[[nodiscard]] Tensor repeat_microbatches(const Tensor& x, std::int32_t count);

}  // namespace tessera
