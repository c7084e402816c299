// Convolutions over one to three spatial dims, and their gradients. The ops are each other's
// gradients, so they live in one file. "Convolution" is the cross-correlation that goes by that
// name in neural networks (LeCun et al., "Gradient-Based Learning Applied to Document Recognition",
// 1998).
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/support/convolution.h>

namespace tessera {

/// Inputs: x (N, C, in...), weight (O, C / groups, kernel...), optionally bias (O). Output
/// (N, O, out...) with out = (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded
/// down.
struct Convolution {
  static constexpr OpInfo info{.name = "convolution",
                               .doc = "products of a weight with windows of x, plus bias",
                               .saved_inputs = 0b011};
  struct Attrs {
    ConvolutionOptions options;
    DType dtype = DType::f32;  ///< factors are rounded to it, and so is the result; sums are f32
    void fields(auto&& see) const { see("options", options), see("dtype", dtype); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient (N, O, out...), weight (O, C / groups, kernel...), optionally a bias (C) to be
/// added: with one it is a transposed convolution. Output (N, C, in...).
struct ConvolutionBackwardInput {
  static constexpr OpInfo info{.name = "convolution_backward_input",
                               .doc = "the gradient of convolution with respect to x, plus bias",
                               .saved_inputs = 0b011};
  struct Attrs {
    ConvolutionOptions options;
    Dims size;                  ///< spatial sizes of x
    DType dtype = DType::f32;   ///< factors are rounded to it; sums are f32
    DType result = DType::f32;  ///< of the output
    void fields(auto&& see) const {
      see("options", options), see("size", size), see("dtype", dtype), see("result", result);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: gradient (N, O, out...), x (N, C, in...). Output (O, C / groups, kernel...), summed over
/// all samples: in an order that their number fixes inside a microbatch, microbatches along the
/// tree.
struct ConvolutionBackwardWeight {
  static constexpr OpInfo info{.name = "convolution_backward_weight",
                               .doc = "the gradient of convolution with respect to weight",
                               .sums_microbatches = true,
                               .saved_inputs = 0b11};
  using Attrs = ConvolutionBackwardInput::Attrs;  ///< `size` is that of the kernel
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x (N, C, in...), weight (O, C / groups, kernel...), bias (O) or undefined -> (N, O, out...).
/// Dtypes are promoted; see AutocastScope for computing in 16 bits with f32 weights.
[[nodiscard]] Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                 const ConvolutionOptions& options = {});

/// x (N, C, in...), weight (C, O / groups, kernel...), bias (O) or undefined -> (N, O, out...): the
/// gradient of a convolution with the same options, with out = (in - 1) stride - 2 padding +
/// dilation (kernel - 1) + output_padding + 1. Of `output_padding`, smaller than stride or
/// dilation, there is a number for each spatial dim, or one for all.
[[nodiscard]] Tensor transposed_convolution(const Tensor& x, const Tensor& weight,
                                            const Tensor& bias = {},
                                            const ConvolutionOptions& options = {},
                                            const Dims& output_padding = {0});

}  // namespace tessera
