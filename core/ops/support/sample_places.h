// Which sample of the global batch, and what of it, each element of a tensor is.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Which element of which microbatch each element of a tensor is.
class ElementPlaces {
 public:
  explicit ElementPlaces(const TensorImpl& x)
      : cut_(x.cut()), per_part_(cut_ ? x.shape[cut_.dim] / cut_.parts : 0), inner_(x.shape) {
    if (cut_) {
      inner_[cut_.dim] = per_part_;
    }
    strides_ = contiguous_strides(inner_);
  }
  struct Place {
    std::int64_t microbatch = 0;
    std::int64_t element = 0;
  };
  [[nodiscard]] Place operator()(const Dims& index) const {
    Place place;
    for (int d = 0; d < index.size(); ++d) {
      std::int64_t i = index[d];
      if (d == cut_.dim) {
        place.microbatch = i / per_part_;
        i %= per_part_;
      }
      place.element += i * strides_[d];
    }
    return place;
  }

 private:
  Cut cut_;
  std::int64_t per_part_;
  Shape inner_;
  Strides strides_;
};

/// How the elements of a tensor are dealt to samples. With the elements counted in row-major order
/// inside a microbatch, element i belongs to sample first_sample + samples * microbatch +
/// i / per_sample and has offset i % per_sample in it.
struct SampleShares {
  std::int64_t first_sample = 0;  ///< index in the global batch of the tensor's first sample
  std::int64_t samples = 1;       ///< in a microbatch
  std::int64_t per_sample = 1;    ///< elements
};

/// How the elements of `x` are dealt to the samples of the context's pass; without one dim 0 holds
/// the samples. In a StepDraws all microbatches are one sample.
[[nodiscard]] SampleShares sample_shares(const Tensor& x);

/// `x` or, when it is equal for all microbatches of the context's pass, one copy of it for each:
/// what is drawn for it differs.
[[nodiscard]] Tensor for_each_drawing(const Tensor& x);

}  // namespace tessera
