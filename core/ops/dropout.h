// Dropout.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Input: x. With x's elements counted in row-major order inside a microbatch, element i belongs to
/// sample first_sample + samples * microbatch + i / per_sample and has offset i % per_sample in it;
/// see DropoutMask. When the microbatches lie one behind the other in memory order (cut along dim
/// 0, or no cut), that is element i of all of x counted on from first_sample.
struct Dropout {
  static constexpr OpInfo info{.name = "dropout",
                               .doc = "x with elements zeroed at random, the others scaled up",
                               .elementwise = true,
                               .in_place = true};
  struct Attrs {
    double p = 0;                   ///< probability of an element to be zeroed
    std::uint64_t key = 0;          ///< of the draw
    std::int64_t first_sample = 0;  ///< index in the global batch of x's first sample
    std::int64_t samples = 1;       ///< in a microbatch
    std::int64_t per_sample = 1;    ///< elements
    void fields(auto&& see) const {
      see("p", p), see("key", key), see("first_sample", first_sample), see("samples", samples),
          see("per_sample", per_sample);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x with every element zeroed with probability `p` and multiplied with 1 / (1 - p) otherwise. The
/// mask depends on the seed, the step, the running module and its number of draws in this pass, the
/// sample's index in the global batch and the element's place in the sample, and on nothing else;
/// backward makes it anew. Throws InvalidArgument for p outside [0, 1].
[[nodiscard]] Tensor dropout(const Tensor& x, double p);

/// What dropout multiplies the elements of a tensor of `shape` with, whose microbatches lie as
/// those of `x` do: 0 or 1 / (1 - p), in x's dtype.
[[nodiscard]] Tensor dropout_factors(const Tensor& x, const Shape& shape, double p);

}  // namespace tessera
