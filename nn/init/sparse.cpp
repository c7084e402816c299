#include <tessera/nn/init/sparse.h>

#include <cmath>

#include <tessera/core/tensor/elements.h>
#include <tessera/nn/data/permutation.h>
#include <tessera/nn/init/normal.h>

namespace tessera::nn::init {
namespace {

/// A key for the order of the rows of a column.
std::uint64_t column_key(const RandomStream& stream, std::int64_t column) {
  constexpr std::uint64_t kPurpose = hash_name("init.sparse");
  return mix(mix(mix(stream.key, stream.high), kPurpose), static_cast<std::uint64_t>(column));
}

}  // namespace

Initializer sparse(double sparsity, double deviation) {
  check<ValueError>(sparsity >= 0 && sparsity <= 1, "sparse: wrong share; got ", sparsity,
                    ", expected one in [0, 1]");
  return [=](const Tensor& value, const Box& box, const RandomStream& stream) {
    const Shape& shape = box.whole;
    check<ValueError>(shape.size() == 2, "sparse: needs a matrix; got shape ", shape);
    normal(0, deviation)(value, box, stream);
    const auto zero_rows =
        static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(shape[0])));
    for (std::int64_t j = 0; zero_rows > 0 && j < box.shape[1]; ++j) {
      const std::int64_t column = box.offset[1] + j;
      const data::Permutation rows(shape[0], column_key(stream, column));
      for (std::int64_t i = 0; i < zero_rows; ++i) {
        if (const std::int64_t at = box.find({rows[i], column}); at >= 0) {
          store_as(value.get(), at, 0.0);
        }
      }
    }
  };
}

}  // namespace tessera::nn::init
