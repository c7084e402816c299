// Averages of windows, as layers.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/core/ops/avg_pool.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/layers/spatial.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct AvgPoolOptions {
  std::optional<PerDim> stride = {};  ///< without one that of the kernel
  PerDim padding = 0;                 ///< zeros at both ends, at most half a window
  bool ceil_mode = false;             ///< a last window may reach beyond the padding
  bool count_include_pad = true;      ///< the zeros count in the size of a window
  /// What a window's sum is divided by in place of its size; not in one dim.
  std::optional<std::int64_t> divisor_override = {};

  static void each(auto& o, const auto& f) {
    visit_fields(f, "stride", o.stride, "padding", o.padding, "ceil_mode", o.ceil_mode,
                 "count_include_pad", o.count_include_pad, "divisor_override", o.divisor_override);
  }
};

/// x (N, C, positions...) or one sample without N -> the same with the average of each window.
/// Constructors throw ValueError for numbers that cannot be meant.
class AvgPoolNd : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return over_samples(layer_, x, ndim_,
                        [&](const Tensor& samples) { return avg_pool(samples, pool_); });
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(kernel_size_, options_); }
  [[nodiscard]] std::string extra_repr() const override {
    return ndim_ == 1
               ? text_of(pool_.kernel, pool_.stride, pool_.padding)
               : text_of(kernel_size_, options_.stride.value_or(kernel_size_), options_.padding);
  }

 protected:
  AvgPoolNd(const char* layer, int ndim, const PerDim& kernel_size, const AvgPoolOptions& options)
      : layer_(layer), ndim_(ndim), kernel_size_(kernel_size), options_(options) {
    const PerDim stride = options.stride.value_or(kernel_size);
    const std::int64_t divisor = options.divisor_override.value_or(1);
    check<ValueError>(divisor >= 1 && (ndim > 1 || !options.divisor_override), layer,
                      ": divisor_override cannot be used; got ", divisor);
    pool_ = {.kernel = kernel_size.each(layer, "kernel size", ndim, 1),
             .stride = stride.each(layer, "stride", ndim, 1),
             .padding = options.padding.each(layer, "padding", ndim, 0),
             .ceil_mode = options.ceil_mode,
             .counts_padding = options.count_include_pad,
             .divisor = options.divisor_override.value_or(0)};
  }

 private:
  template <class T>
  static std::string text_of(const T& kernel_size, const T& stride, const T& padding) {
    return tessera::detail::concat("kernel_size=", kernel_size, ", stride=", stride,
                                   ", padding=", padding);
  }

  const char* layer_;
  int ndim_;
  PerDim kernel_size_;
  AvgPoolOptions options_;
  AvgPooling pool_;  ///< what `options_` come to
};

class AvgPool1d : public AvgPoolNd {
 public:
  explicit AvgPool1d(const PerDim& kernel_size, const AvgPoolOptions& options = {})
      : AvgPoolNd("AvgPool1d", 1, kernel_size, options) {}
};

class AvgPool2d : public AvgPoolNd {
 public:
  explicit AvgPool2d(const PerDim& kernel_size, const AvgPoolOptions& options = {})
      : AvgPoolNd("AvgPool2d", 2, kernel_size, options) {}
};

class AvgPool3d : public AvgPoolNd {
 public:
  explicit AvgPool3d(const PerDim& kernel_size, const AvgPoolOptions& options = {})
      : AvgPoolNd("AvgPool3d", 3, kernel_size, options) {}
};

}  // namespace tessera::nn
