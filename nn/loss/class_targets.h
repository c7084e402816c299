// Classes as targets, with weights and rows that count nothing.
#pragma once

#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

/// The dim of `input` that holds the classes: 1, or 0 of a single sample (C).
[[nodiscard]] int class_dim_of(const Tensor& input);

/// Targets (...) that name one class each, of an input (..., C, ...).
struct ClassTargets {
  const char* name;  ///< of the loss, a literal
  Tensor index;      ///< i64, 0 in rows that are ignored
  Tensor counts;     ///< bool: false in rows that are ignored
  Tensor weight;     ///< that of the row's class, 1 without weights, 0 in rows that are ignored

  /// Throws InvalidArgument naming `op` for a target that is no integer, does not fit `input` with
  /// classes in `dim`, or a `class_weight` that is not (C). Undefined weights mean 1.
  ClassTargets(const char* op, const Tensor& input, const Tensor& target, int dim,
               const Tensor& class_weight, std::int64_t ignore_index);

  /// The elements of `x` at the targets; 0 in rows that are ignored.
  [[nodiscard]] Tensor pick(const Tensor& x, int dim) const;
  /// Losses of rows, already weighted, as `reduction` says; their mean is over the weights.
  [[nodiscard]] Tensor reduce(const Tensor& losses, Reduction reduction) const;
};

}  // namespace tessera::nn
