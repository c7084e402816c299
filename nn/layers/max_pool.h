// The largest elements of windows, as layers.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/core/ops/max_pool.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/layers/spatial.h>
#include <tessera/nn/module.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {

struct MaxPoolOptions {
  std::optional<PerDim> stride = {};  ///< without one that of the kernel
  PerDim padding = 0;                 ///< at both ends, at most half a window
  PerDim dilation = 1;
  bool ceil_mode = false;  ///< a last window may reach beyond the padding

  static void each(auto& o, const auto& f) {
    visit_fields(f, "stride", o.stride, "padding", o.padding, "dilation", o.dilation, "ceil_mode",
                 o.ceil_mode);
  }
};

/// x (N, C, positions...) or one sample without N -> the same with the largest element of each
/// window. Constructors throw ValueError for numbers that cannot be meant.
class MaxPoolNd : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return over_samples(layer_, x, ndim_,
                        [&](const Tensor& samples) { return max_pool(samples, pool_); });
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(kernel_size_, options_); }
  [[nodiscard]] std::string extra_repr() const override {
    return tessera::detail::concat("kernel_size=", kernel_size_,
                                   ", stride=", options_.stride.value_or(kernel_size_),
                                   ", padding=", options_.padding, ", dilation=", options_.dilation,
                                   ", ceil_mode=", python_bool(options_.ceil_mode));
  }

 protected:
  MaxPoolNd(const char* layer, int ndim, const PerDim& kernel_size, const MaxPoolOptions& options)
      : layer_(layer), ndim_(ndim), kernel_size_(kernel_size), options_(options) {
    const PerDim stride = options.stride.value_or(kernel_size);
    pool_ = {.kernel = kernel_size.each(layer, "kernel size", ndim, 1),
             .stride = stride.each(layer, "stride", ndim, 1),
             .padding = options.padding.each(layer, "padding", ndim, 0),
             .dilation = options.dilation.each(layer, "dilation", ndim, 1),
             .ceil_mode = options.ceil_mode};
  }

 private:
  const char* layer_;
  int ndim_;
  PerDim kernel_size_;
  MaxPoolOptions options_;
  PoolOptions pool_;  ///< what `options_` come to
};

class MaxPool1d : public MaxPoolNd {
 public:
  explicit MaxPool1d(const PerDim& kernel_size, const MaxPoolOptions& options = {})
      : MaxPoolNd("MaxPool1d", 1, kernel_size, options) {}
};

class MaxPool2d : public MaxPoolNd {
 public:
  explicit MaxPool2d(const PerDim& kernel_size, const MaxPoolOptions& options = {})
      : MaxPoolNd("MaxPool2d", 2, kernel_size, options) {}
};

class MaxPool3d : public MaxPoolNd {
 public:
  explicit MaxPool3d(const PerDim& kernel_size, const MaxPoolOptions& options = {})
      : MaxPoolNd("MaxPool3d", 3, kernel_size, options) {}
};

}  // namespace tessera::nn
