// Transposed convolutional layers: the gradients of convolutional ones, as layers.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/layers/conv_base.h>

namespace tessera::nn {

struct ConvTransposeOptions {
  PerDim stride = 1;
  PerDim padding = 0;         ///< positions that are taken off both ends of the result
  PerDim output_padding = 0;  ///< positions that are added at the result's end
  std::int64_t groups = 1;    ///< parts of the channels that do not see each other
  bool bias = true;
  PerDim dilation = 1;
  Initializer weight_init = nullptr;  ///< without one kaiming_uniform(sqrt(5)), as in PyTorch
  Initializer bias_init = nullptr;    ///< without one uniform in +-1 / sqrt(fan_in)

  static void each(auto& o, const auto& f) {
    visit_fields(f, "stride", o.stride, "padding", o.padding, "output_padding", o.output_padding,
                 "groups", o.groups, "bias", o.bias, "dilation", o.dilation);
  }
};

/// x (N, in_channels, positions...) or one sample without N -> (N, out_channels, positions...),
/// with (positions - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1 of
/// them (Zeiler et al., "Deconvolutional Networks", CVPR 2010). Constructors throw ValueError for
/// options that do not fit together.
class ConvTransposeNd : public ConvBase {
 public:
  /// `output_size`, if given, chooses the output padding: a number for each position dim. Throws
  /// ValueError for a size that is out of reach.
  [[nodiscard]] Tensor forward(const Tensor& x, const std::optional<Dims>& output_size = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, PerDim, ConvTransposeOptions> arguments()
      const;

 protected:
  ConvTransposeNd(const char* layer, int ndim, std::int64_t in_channels, std::int64_t out_channels,
                  const PerDim& kernel_size, const ConvTransposeOptions& options);
};

class ConvTranspose1d : public ConvTransposeNd {
 public:
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
                  const ConvTransposeOptions& options = {})
      : ConvTransposeNd("ConvTranspose1d", 1, in_channels, out_channels, kernel_size, options) {}
};

class ConvTranspose2d : public ConvTransposeNd {
 public:
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
                  const ConvTransposeOptions& options = {})
      : ConvTransposeNd("ConvTranspose2d", 2, in_channels, out_channels, kernel_size, options) {}
};

class ConvTranspose3d : public ConvTransposeNd {
 public:
  ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
                  const ConvTransposeOptions& options = {})
      : ConvTransposeNd("ConvTranspose3d", 3, in_channels, out_channels, kernel_size, options) {}
};

}  // namespace tessera::nn
