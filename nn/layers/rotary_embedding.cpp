#include <tessera/nn/layers/rotary_embedding.h>

#include <cmath>
#include <vector>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/microbatch_shape.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

void check_options(std::int64_t dim, const RotaryOptions& options) {
  check<ValueError>(dim >= 2 && dim % 2 == 0,
                    "RotaryEmbedding: dim must be even and positive; got ", dim);
  check<ValueError>(options.base > 0 && options.max_positions >= 1,
                    "RotaryEmbedding: base and max_positions must be positive; got ", options.base,
                    " and ", options.max_positions);
}

/// Rows `first` on of a table, in `dtype`, where x lies.
Tensor rows_for(const Tensor& x, const Tensor& table, std::int64_t first, DType dtype) {
  const std::int64_t count = x.size(-2);
  if (x.microbatches() &&
      x.microbatches().sample_dim() == unstacked_ndim(x) - 2) {  // a sample has no number here
    fail_on_microbatches("RotaryEmbedding", "mixes samples");
  }
  return on_device(cast(slice(table, 0, first, first + count), dtype), x.device());
}

DType rotation_dtype(const Tensor& x) {
  return x.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace

std::pair<Tensor, Tensor> rotary_angles(std::int64_t count, std::int64_t dim, double base) {
  std::vector<double> cosines, sines;
  for (std::int64_t t = 0; t < count; ++t) {
    for (std::int64_t i = 0; i < dim / 2; ++i) {
      const double exponent = -2 * static_cast<double>(i) / static_cast<double>(dim);
      const double angle = static_cast<double>(t) * std::pow(base, exponent);
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
  }
  const Shape shape{count, dim / 2};
  return {from_values<double>(cosines, shape), from_values<double>(sines, shape)};
}

Tensor rotate_positions(const Tensor& x, const Tensor& cos, const Tensor& sin, bool pairs) {
  const std::int64_t half = x.size(-1) / 2;
  const Tensor wide = cast(x, rotation_dtype(x));
  const Tensor couples = pairs ? unflatten(wide, -1, {half, 2}) : wide;
  const Tensor a = pairs ? select(couples, -1, 0) : slice(wide, -1, 0, half);
  const Tensor b = pairs ? select(couples, -1, 1) : slice(wide, -1, half, 2 * half);
  const Tensor u = a * cos - b * sin;
  const Tensor v = b * cos + a * sin;
  const Tensor y = pairs ? flatten(stack({u, v}, -1), -2) : concat({u, v}, -1);
  return cast(y, x.dtype());
}

RotaryEmbedding::RotaryEmbedding(std::int64_t dim, const RotaryOptions& options)
    : dim_(dim), options_(options) {
  check_options(dim, options);
  std::tie(cos_, sin_) = rotary_angles(options.max_positions, dim, options.base);
}

Tensor RotaryEmbedding::forward(const Tensor& x, std::int64_t first) const {
  check(unstacked_ndim(x) >= 2 && x.size(-1) == dim_, "RotaryEmbedding: wrong shape; got ",
        x.shape(), ", expected (..., T, ", dim_, ")");
  check(first >= 0 && first + x.size(-2) <= options_.max_positions,
        "RotaryEmbedding: positions out of range; got ", first, " to ", first + x.size(-2) - 1,
        ", expected some in [0, ", options_.max_positions, ")");
  const DType dtype = rotation_dtype(x);
  return rotate_positions(x, rows_for(x, cos_, first, dtype), rows_for(x, sin_, first, dtype),
                          options_.pairs);
}

std::string RotaryEmbedding::extra_repr() const {
  return tessera::detail::concat(dim_, ", base=", python_text(options_.base),
                                 ", max_positions=", options_.max_positions,
                                 ", pairs=", python_bool(options_.pairs));
}

}  // namespace tessera::nn
