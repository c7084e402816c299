// Batch norm: every channel brought to mean 0 and variance 1 over the batch, and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// Inputs: x (N, C, ...), weight (C) and bias (C), optional. Outputs: y as x, mean (C), variance
/// (C): of each channel over all other dims, the variance with divisor n.
struct BatchNorm {
  static constexpr OpInfo info{
      .name = "batch_norm",
      .doc = "channels of x brought to mean 0 and variance 1, scaled and shifted",
      .saved_inputs = 0b011,
      .saved_outputs = 0b110,
      .over_samples = OverPass::mean};
  struct Attrs {
    double epsilon = 1e-5;
    DType dtype = DType::f32;  ///< of y; statistics are f32 (f64 for f64)
    void fields(auto&& see) const { see("epsilon", epsilon), see("dtype", dtype); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient and x (N, C, ...), mean (C), variance (C), weight (C) or none. Outputs: the
/// gradient of x and, if asked for, of weight and bias (C).
struct BatchNormBackward {
  static constexpr OpInfo info{
      .name = "batch_norm_backward", .doc = "the gradients of batch_norm", .saved_inputs = 0b11111};
  struct Attrs {
    double epsilon = 1e-5;
    bool weight = false;            ///< the gradient of the weight is wanted: output 1
    bool bias = false;              ///< the gradient of the bias is wanted: the next output
    DType parameters = DType::f32;  ///< of outputs 1 and 2
    void fields(auto&& see) const {
      see("epsilon", epsilon), see("weight", weight), see("bias", bias),
          see("parameters", parameters);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// What batch_norm gives: the statistics serve running averages, and have no gradient.
struct BatchNormResult {
  Tensor y;
  Tensor mean;      ///< (C)
  Tensor variance;  ///< (C), with divisor n
};

/// Every channel of x (N, C, ...) brought to mean 0 and variance 1 over all other dims, times
/// weight (C), plus bias (C); both may be undefined. Of a pass of several microbatches each is
/// normalised by itself, and the statistics are stacked. y has the dtype of x, whatever an
/// AutocastScope says, as in PyTorch. Of no values mean and variance are 0.
[[nodiscard]] BatchNormResult batch_norm(const Tensor& x, const Tensor& weight = {},
                                         const Tensor& bias = {}, double epsilon = 1e-5);

/// Batch norm with given statistics (C): (x - mean) / sqrt(variance + epsilon) weight + bias.
[[nodiscard]] Tensor batch_norm_with(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                     const Tensor& weight = {}, const Tensor& bias = {},
                                     double epsilon = 1e-5);

}  // namespace tessera
