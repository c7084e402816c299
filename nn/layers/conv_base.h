// What convolutional layers share: parameters, their beginning, the printed form.
#pragma once

#include <tessera/nn/layers/padding_mode.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// What a convolutional layer is made with; lists have a number for each spatial dim.
struct ConvSetup {
  const char* layer = "";  ///< for errors
  std::int64_t in_channels = 0, out_channels = 0;
  Dims kernel_size, stride, padding, dilation;
  Dims output_padding;       ///< of transposed layers
  std::string padding_name;  ///< "same", "valid", or empty for numbers
  std::int64_t groups = 1;
  PaddingMode padding_mode = PaddingMode::zeros;
  bool transposed = false;
  bool bias = true;
  Initializer weight_init = nullptr;  ///< without one kaiming_uniform(sqrt(5))
  Initializer bias_init = nullptr;    ///< without one uniform in +-1 / sqrt(fan_in)
};

class ConvBase : public Module {
 public:
  [[nodiscard]] std::string extra_repr() const override;

  /// (out_channels, in_channels / groups, kernel...), of transposed layers (in_channels,
  /// out_channels / groups, kernel...).
  Parameter weight;
  Parameter bias;  ///< (out_channels); undefined without bias

 protected:
  /// `in_channels` may be kInferred. Throws ValueError for numbers of channels that do not fit the
  /// groups.
  explicit ConvBase(ConvSetup setup);
  /// Takes the channels of `x` for those that were inferred.
  void infer_sizes(const Tensor& x);
  [[nodiscard]] const ConvSetup& setup() const { return setup_; }
  [[nodiscard]] int ndim() const { return setup_.kernel_size.size(); }
  /// Zero while they are not known.
  [[nodiscard]] std::int64_t in_channels() const;

 private:
  ConvSetup setup_;
};

}  // namespace tessera::nn
