#include <tessera/nn/loss/class_targets.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/gather.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/loss/weighted_mean.h>

namespace tessera::nn {
namespace {

void check_targets(const char* op, const Tensor& input, const Tensor& target, int dim,
                   const Tensor& class_weight) {
  check(is_floating(input.dtype()), op, ": the input needs a floating dtype; got ", input.dtype());
  check(is_integral(target.dtype()) && target.dtype() != DType::boolean, op,
        ": targets must be integers; got ", target.dtype());
  const Shape scores = unstacked_shape(input);
  const Shape given = unstacked_shape(target);
  Shape rows = scores;
  rows.erase(dim);
  check<ValueError>(given == rows, op, ": targets do not fit; got ", given, ", expected ", rows,
                    " for classes in dim ", dim, " of ", scores);
  check(
      !class_weight.defined() || (class_weight.ndim() == 1 && class_weight.size(0) == scores[dim]),
      op, ": needs one weight a class; got ",
      class_weight.defined() ? class_weight.shape() : Shape{}, ", expected ", Shape{scores[dim]});
}

}  // namespace

int class_dim_of(const Tensor& input) {
  return unstacked_ndim(input) == 1 ? 0 : 1;
}

ClassTargets::ClassTargets(const char* op, const Tensor& input, const Tensor& target, int dim,
                           const Tensor& class_weight, std::int64_t ignore_index)
    : name(op) {
  check_targets(op, input, target, dim, class_weight);
  const Tensor classes = cast(target, DType::i64);
  counts = ne(classes, ignore_index);
  index = where(counts, classes, 0);
  weight = cast(counts, widened(input).dtype());
  if (class_weight.defined()) {
    weight = weight * squeeze(embedding(unsqueeze(widened(class_weight), 1), index), -1);
  }
}

Tensor ClassTargets::pick(const Tensor& x, int dim) const {
  return where(counts, squeeze(gather(x, dim, unsqueeze(index, dim)), dim), 0);
}

Tensor ClassTargets::reduce(const Tensor& losses, Reduction reduction) const {
  if (reduction == Reduction::mean) {
    return counted_mean(name, losses, weight);
  }
  return nn::reduce(losses, reduction);
}

}  // namespace tessera::nn
