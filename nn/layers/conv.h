// Convolutional layers over one to three spatial dims.
#pragma once

#include <tuple>

#include <tessera/nn/layers/conv_base.h>

namespace tessera::nn {

/// How many positions are added at both ends: numbers, "valid" for none, or "same" for as many as
/// keep the size.
class ConvPadding {
 public:
  ConvPadding(std::int64_t all) : numbers_(all) {}
  ConvPadding(int all) : numbers_(all) {}  // 0 is a null pointer too
  ConvPadding(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  ConvPadding(const Dims& numbers) : numbers_(numbers) {}
  explicit ConvPadding(const PerDim& numbers) : numbers_(numbers) {}
  /// Throws ValueError unless `name` is "same" or "valid".
  ConvPadding(const char* name);

  [[nodiscard]] const PerDim& numbers() const { return numbers_; }  ///< 0 where there is a name
  [[nodiscard]] const std::string& name() const { return name_; }   ///< empty for numbers

 private:
  PerDim numbers_{0};
  std::string name_;
};

struct ConvOptions {
  PerDim stride = 1;
  ConvPadding padding = 0;
  PerDim dilation = 1;
  std::int64_t groups = 1;  ///< parts of the channels that do not see each other
  bool bias = true;
  PaddingMode padding_mode = PaddingMode::zeros;
  Initializer weight_init = nullptr;  ///< without one kaiming_uniform(sqrt(5)), as in PyTorch
  Initializer bias_init = nullptr;    ///< without one uniform in +-1 / sqrt(fan_in)

  static void each(auto& o, const auto& f) {
    visit_fields(f, "stride", o.stride, "padding", o.padding, "dilation", o.dilation, "groups",
                 o.groups, "bias", o.bias, "padding_mode", o.padding_mode);
  }
};

/// The convolution of x (N, channels, positions...), or of one sample without N, with weight (out,
/// channels / groups, kernel...), plus bias (out), which may be undefined. What `options` say of
/// the parameters' making does not count. Throws ValueError for options that do not fit together.
[[nodiscard]] Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                          const ConvOptions& options = {});

/// x (N, in_channels, positions...) or one sample without N -> (N, out_channels, positions...):
/// products of the weight with windows of x, plus bias. Constructors throw ValueError for options
/// that do not fit together.
class ConvNd : public ConvBase {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, PerDim, ConvOptions> arguments() const;

 protected:
  ConvNd(const char* layer, int ndim, std::int64_t in_channels, std::int64_t out_channels,
         const PerDim& kernel_size, const ConvOptions& options);
};

class Conv1d : public ConvNd {
 public:
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
         const ConvOptions& options = {})
      : ConvNd("Conv1d", 1, in_channels, out_channels, kernel_size, options) {}
};

class Conv2d : public ConvNd {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
         const ConvOptions& options = {})
      : ConvNd("Conv2d", 2, in_channels, out_channels, kernel_size, options) {}
};

class Conv3d : public ConvNd {
 public:
  Conv3d(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
         const ConvOptions& options = {})
      : ConvNd("Conv3d", 3, in_channels, out_channels, kernel_size, options) {}
};

}  // namespace tessera::nn
