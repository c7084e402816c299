#include <tessera/nn/loss/reduction.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum.h>

namespace tessera::nn {

Tensor reduce(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) {
    return losses;
  }
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

Tensor widened(const Tensor& x) {
  return is_floating(x.dtype()) && size_of(x.dtype()) < 4 ? cast(x, DType::f32) : x;
}

void check_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  const Shape expected = unstacked_shape(input);
  const Shape given = unstacked_shape(target);
  check<ValueError>(given == expected, op, ": the target does not fit; got ", given, ", expected ",
                    expected);
}

std::pair<Tensor, Tensor> widened_alike(const char* op, const Tensor& input, const Tensor& target) {
  const auto [x, y] = stacked_alike(input, target);
  check_same_shape(op, x, y);
  return {widened(x), widened(y)};
}

void check_weight(const char* op, const char* name, const Tensor& weight, const Tensor& input) {
  if (weight.defined()) {
    const Shape expected = unstacked_shape(input);
    const Shape given = unstacked_shape(weight);
    check<ValueError>(broadcast_shapes(op, given, expected) == expected, op, ": ", name,
                      " does not fit; got ", given, ", expected a shape that broadcasts to ",
                      expected);
  }
}

}  // namespace tessera::nn
