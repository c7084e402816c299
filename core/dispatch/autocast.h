// Mixed precision: the dtype in which heavy ops compute, whatever their inputs are stored in.
#pragma once

#include <optional>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

/// While it lives, matmul, linear, attention, norms and the fused head round their f32 and 16-bit
/// inputs to `dtype`, add in f32, and give results of `dtype`; f64 stays f64. Gradients have the
/// dtypes of the tensors they belong to, so those of f32 parameters stay f32. All other ops follow
/// the promotion rules: f32 + bf16 is f32. f32 ends the effect of an outer scope.
/// Throws InvalidArgument unless `dtype` is f32, bf16 or f16.
class AutocastScope {
 public:
  explicit AutocastScope(DType dtype) : guard_(checked(dtype)) {}

 private:
  static std::optional<DType> checked(DType dtype);
  ModeGuard<&Modes::autocast> guard_;
};

}  // namespace tessera
