// Random numbers for the samples that a tensor holds.
#pragma once

#include <tessera/core/ops/support/draw.h>
#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

/// Input: x, of which the shape and the borders of microbatches count. Elements belong to samples
/// as `draw` says; the element with offset j in sample s is made of block j, or for uniform numbers
/// word j, of the stream with key mix(key, s).
struct RandomLike : Elementwise<1> {
  static constexpr OpInfo info{.name = "random_like",
                               .doc = "random numbers, each sample's from a stream of its own",
                               .differentiable = false,
                               .elementwise = true,
                               .draws = true};
  enum class Distribution : std::uint8_t { uniform, normal };
  friend std::ostream& operator<<(std::ostream& out, Distribution value) {
    return out << (value == Distribution::uniform ? "uniform" : "normal");
  }
  struct Attrs {
    Distribution distribution = Distribution::uniform;
    Draw draw;
    void fields(auto&& see) const { see("distribution", distribution), see("draw", draw); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&);
  static void reference(Kernel& k, const Attrs& attrs);
  static void localise(Attrs& attrs, const Box& output) { attrs.draw.box = output; }
};

/// Uniform in [0, 1) and standard normal, of the shape, dtype and device of `x`, which is floating.
/// Keyed as dropout is (random_scope.h): by the seed, the step, the running module and its number
/// of draws in this pass, the sample's index in the global batch and the element's place in the
/// sample. So every sample has numbers of its own, whatever rank and pass it lands in.
[[nodiscard]] Tensor rand_like(const Tensor& x);
[[nodiscard]] Tensor randn_like(const Tensor& x);
/// Random numbers of another shape, which has x's samples along the same dim: a generator's input
/// for the samples of `x` is randn_like(x, {x.size(0), 64}).
[[nodiscard]] Tensor rand_like(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor randn_like(const Tensor& x, const Shape& shape);

/// 1 with the probabilities `p`, else 0, in p's shape and dtype; keyed as `rand_like`. A
/// probability outside [0, 1] counts as the nearer end, nan as 0. No gradient flows through it.
[[nodiscard]] Tensor bernoulli(const Tensor& p);

}  // namespace tessera
