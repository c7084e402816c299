// The affine map of a layer, and its gradients. The ops are each other's gradients, so they live in
// one file.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Inputs: x (..., in), weight (out, in), optionally bias (out). Output (..., out).
struct Linear {
  static constexpr OpInfo info{.name = "linear",
                               .doc = "x weight^T + bias",
                               .saved_inputs = 0b011,
                               .over_samples = OverPass::sum};
  struct Attrs {
    DType dtype = DType::f32;  ///< factors are rounded to it, and so is the result; sums are f32
    void fields(auto&& see) const { see("dtype", dtype); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient (..., out), weight (out, in). Output: gradient weight (..., in).
struct LinearBackwardInput {
  static constexpr OpInfo info{.name = "linear_backward_input",
                               .doc = "the gradient of linear with respect to x",
                               .saved_inputs = 0b11};
  struct Attrs {
    DType dtype = DType::f32;   ///< factors are rounded to it; sums are f32
    DType result = DType::f32;  ///< of the output
    void fields(auto&& see) const { see("dtype", dtype), see("result", result); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient (..., out), x (..., in). Output: gradient^T x (out, in), summed over all rows.
/// Rows are summed in order inside a microbatch, microbatches along the tree.
struct LinearBackwardWeight {
  static constexpr OpInfo info{.name = "linear_backward_weight",
                               .doc = "the gradient of linear with respect to weight",
                               .sums_microbatches = true,
                               .saved_inputs = 0b11};
  using Attrs = LinearBackwardInput::Attrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Input: gradient (..., out). Output: its sum over all rows (out), in order inside a microbatch,
/// microbatches along the tree.
struct LinearBackwardBias {
  static constexpr OpInfo info{.name = "linear_backward_bias",
                               .doc = "the gradient of linear with respect to bias",
                               .sums_microbatches = true};
  struct Attrs {
    DType result = DType::f32;  ///< of the output
    void fields(auto&& see) const { see("result", result); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x (..., in), weight (out, in), bias (out) or undefined -> (..., out). Dtypes are promoted; see
/// AutocastScope for computing in 16 bits with f32 weights.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// gradient (..., out), x (..., in) -> gradient^T x (out, in) of dtype `result`, with factors
/// rounded to `dtype`; written into `destination` if that is defined.
[[nodiscard]] Tensor linear_backward_weight(const Tensor& gradient, const Tensor& x, DType dtype,
                                            DType result, const Tensor& destination = {});

}  // namespace tessera
