// What recurrent and its gradient share.
#pragma once

#include <vector>

#include <tessera/core/ops/recurrent.h>

namespace tessera {

/// Sizes of a call, from x (B, T, G H) or a tensor (B, T, H).
struct RecurrentSizes {
  RecurrentSizes(const Shape& shape, std::int64_t per_unit)
      : batch(shape[0]), steps(shape[1]), width(shape[2] / per_unit) {}
  std::int64_t batch, steps, width;
};

/// The dtype of first, last and cell states.
[[nodiscard]] inline DType state_dtype(DType dtype) noexcept {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// Throws InvalidArgument unless input `i`, which may be missing, has `shape` and is floating.
void check_optional(const Infer& c, int i, const Shape& shape, const char* name);
/// Throws InvalidArgument unless input `i`, which may be missing, holds `batch` integers.
void check_lengths(const Infer& c, int i, std::int64_t batch);

/// The length of every sequence. Throws InvalidArgument for one outside [0, steps].
[[nodiscard]] std::vector<std::int64_t> lengths_of(const Kernel& k, int i, std::int64_t batch,
                                                   std::int64_t steps);

/// Sequences can be cut apart: dim 0 of every input but weight and bias, which are inputs `weight`
/// and, if not negative, `bias`, and of every output.
[[nodiscard]] ShardRule sequences_rule(const Infer& c, int weight, int bias);

/// The time of the n-th step taken.
[[nodiscard]] inline std::int64_t time_of(std::int64_t n, std::int64_t steps, bool reverse) {
  return reverse ? steps - 1 - n : n;
}

}  // namespace tessera
