// Averages of windows that cover their input evenly, as layers.
#pragma once

#include <algorithm>
#include <tuple>

#include <tessera/core/ops/avg_pool.h>
#include <tessera/core/tensor/microbatch_shape.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/layers/spatial.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// x (N, C, positions...) or one sample without N -> (N, C, output_size...), whatever the number of
/// positions; a size of -1 keeps the input's, and is printed as None. Constructors throw ValueError
/// for sizes that cannot be meant.
class AdaptiveAvgPoolNd : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    return over_samples(layer_, x, ndim_, [&](const Tensor& samples) { return pool(samples); });
  }
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(output_size_); }
  [[nodiscard]] std::string extra_repr() const override {
    std::string text = tessera::detail::concat("output_size=", output_size_);
    for (std::size_t at; (at = text.find("-1")) != std::string::npos;) {
      text.replace(at, 2, "None");
    }
    return text;
  }

 protected:
  AdaptiveAvgPoolNd(const char* layer, int ndim, const PerDim& output_size)
      : layer_(layer),
        ndim_(ndim),
        output_size_(output_size),
        size_(output_size.each(layer, "output size", ndim, -1)) {
    check<ValueError>(std::ranges::find(size_, 0) == size_.end(), layer,
                      ": output sizes must be positive; got ", size_);
  }

 private:
  [[nodiscard]] Tensor pool(const Tensor& x) const {
    Dims size = size_;
    const Shape shape = unstacked_shape(x);
    for (int d = 0; d < ndim_; ++d) {
      size[d] = size[d] == -1 ? shape[d + 2] : size[d];
    }
    return adaptive_avg_pool(x, size);
  }

  const char* layer_;
  int ndim_;
  PerDim output_size_;
  Dims size_;  ///< of each dim
};

class AdaptiveAvgPool1d : public AdaptiveAvgPoolNd {
 public:
  explicit AdaptiveAvgPool1d(const PerDim& output_size)
      : AdaptiveAvgPoolNd("AdaptiveAvgPool1d", 1, output_size) {}
};

class AdaptiveAvgPool2d : public AdaptiveAvgPoolNd {
 public:
  explicit AdaptiveAvgPool2d(const PerDim& output_size)
      : AdaptiveAvgPoolNd("AdaptiveAvgPool2d", 2, output_size) {}
};

class AdaptiveAvgPool3d : public AdaptiveAvgPoolNd {
 public:
  explicit AdaptiveAvgPool3d(const PerDim& output_size)
      : AdaptiveAvgPoolNd("AdaptiveAvgPool3d", 3, output_size) {}
};

}  // namespace tessera::nn
