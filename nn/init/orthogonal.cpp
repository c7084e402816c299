#include <tessera/nn/init/orthogonal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/normal.h>

namespace tessera::nn::init {
namespace {

/// The inner product, in eight sums side by side: an order of additions that vector units keep.
double dot(const double* x, const double* y, std::int64_t size) {
  std::array<double, 8> sums{};
  std::int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      sums[k] += x[i + static_cast<std::int64_t>(k)] * y[i + static_cast<std::int64_t>(k)];
    }
  }
  for (; i < size; ++i) {
    sums[0] += x[i] * y[i];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Takes from `vector` its part along each of the unit vectors in [first, last), in order.
void project(double* vector, const double* first, const double* last, std::int64_t size) {
  for (const double* unit = first; unit != last; unit += size) {
    const double along = dot(vector, unit, size);
    for (std::int64_t k = 0; k < size; ++k) {
      vector[k] -= along * unit[k];
    }
  }
}

/// Makes `count` vectors of `size` numbers, one after another, orthonormal by the method of Gram
/// and Schmidt, each step done twice, which leaves errors of rounding only (Giraud et al., "The
/// Loss of Orthogonality in the Gram-Schmidt Orthogonalization Process", 2005). As in a QR
/// decomposition with a positive diagonal of R, the result is distributed evenly.
void orthonormalize(double* vectors, std::int64_t count, std::int64_t size) {
  constexpr std::int64_t kBlock = 16;  // vectors that stay in the cache while others pass by
  for (std::int64_t first = 0; first < count; first += kBlock) {
    double* block = vectors + first * size;
    double* end = vectors + std::min(first + kBlock, count) * size;
    for (std::int64_t j = 0; j < 2 * first; ++j) {
      const double* unit = vectors + j % first * size;
      for (double* vector = block; vector != end; vector += size) {
        project(vector, unit, unit + size, size);
      }
    }
    for (double* vector = block; vector != end; vector += size) {
      project(vector, block, vector, size);
      project(vector, block, vector, size);
      const double length = std::sqrt(dot(vector, vector, size));
      for (std::int64_t k = 0; k < size; ++k) {
        vector[k] /= length;
      }
    }
  }
}

}  // namespace

Initializer orthogonal(double gain) {
  return [gain](const Tensor& value, const Box& box, const RandomStream& stream) {
    const Shape& shape = box.whole;
    check<ValueError>(shape.size() >= 2, "orthogonal: needs at least two dims; got shape ", shape);
    if (value.numel() == 0) {
      return;
    }
    const std::int64_t rows = shape[0];
    const std::int64_t columns = numel_of(shape) / rows;
    const bool tall = rows > columns;
    const std::int64_t count = tall ? columns : rows;
    const std::int64_t size = tall ? rows : columns;
    const DType drawn_as = value.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor drawn = empty({count, size}, {.dtype = drawn_as});
    normal()(drawn, Box::all_of(drawn.shape()), stream);
    const Tensor vectors = cast(drawn, DType::f64);
    auto* numbers = vectors.data<double>();
    orthonormalize(numbers, count, size);
    for (std::int64_t element = 0; element < value.numel(); ++element) {
      const std::int64_t i = box.number(element);
      const std::int64_t from = tall ? i % columns * size + i / columns : i;
      store_as(value.get(), element, gain * numbers[from]);
    }
  };
}

}  // namespace tessera::nn::init
