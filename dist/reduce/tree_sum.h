// The arithmetic of a reduction: blocks added elementwise in the order of a tree.
#pragma once

#include <cstddef>
#include <span>

#include <tessera/core/tensor/dtype.h>
#include <tessera/dist/comm/collective.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist {

/// The type that partial sums of `dtype` are held in: f32 for f16 and bf16, else the type itself.
[[nodiscard]] DType accumulator_of(DType dtype) noexcept;

/// A block of a reduction as it lies in memory.
struct TreeSource {
  const void* data = nullptr;
  bool partial = false;  ///< elements are of type `accumulator_of(dtype)`, as a partial sum is
};

/// What tree_reduce does. Steps name sources by index.
struct TreeReduceArgs {
  ReduceOp op = ReduceOp::sum;
  DType dtype = DType::f32;
  std::span<const TreeStep> steps;
  std::span<const TreeSource> sources;  ///< of `count` elements each
  std::span<void* const> destinations;  ///< of `count` elements each
  std::size_t count = 0;
  bool partial_result = false;  ///< destinations take `accumulator_of(dtype)`, nothing is rounded
};

/// Reduces sources elementwise along the steps; the result is that of the last step's `into`, or
/// source 0 without steps, and is written to every destination.
///
/// f16, bf16 and f32 are added in f32 and rounded once, at the end, or not at all. Integers wrap. A
/// destination may be one of the sources of its own type, and must not overlap any other way.
/// Elements are treated alone, so how a caller cuts `count` changes no bit. Runs on the calling
/// thread. Throws InvalidArgument for a reduction that `dtype` does not have (`check_reducible`).
void tree_reduce(const TreeReduceArgs&);

/// Throws InvalidArgument for a sum of bool and for an order of complex numbers.
void check_reducible(ReduceOp op, DType dtype);

[[nodiscard]] const char* to_string(ReduceOp) noexcept;

}  // namespace tessera::dist
