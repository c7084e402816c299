// Everything about a tensor but its elements.
#pragma once

#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

struct TensorMeta {
  TensorMeta() = default;
  explicit TensorMeta(const TensorImpl& x)
      : shape(x.shape), dtype(x.dtype), device(x.device), microbatches(x.microbatches()) {}

  /// Stands for an input that was not given.
  [[nodiscard]] static TensorMeta not_given() {
    TensorMeta none;
    none.device.index = kNotGiven;
    return none;
  }
  [[nodiscard]] bool is_given() const noexcept { return device.index != kNotGiven; }

  Shape shape;
  DType dtype = DType::f32;
  Device device{};
  MicrobatchLayout microbatches;

 private:
  static constexpr std::int8_t kNotGiven = -1;  ///< as device index
};

}  // namespace tessera
