#include <tessera/nn/loss/cross_entropy_loss.h>

#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/loss/class_targets.h>

namespace tessera::nn {
namespace {

constexpr const char* kCrossEntropyLoss = "cross_entropy_loss";

/// Logits with the classes in the last dim.
Tensor classes_last(const Tensor& input, int dim) {
  const int ndim = unstacked_ndim(input);
  if (dim == ndim - 1) {
    return input;
  }
  Dims order;
  for (int d = 0; d < ndim; ++d) {
    if (d != dim) {
      order.push_back(d);
    }
  }
  order.push_back(dim);
  return permute(input, order);
}

/// What smoothing gives to every class.
double share_of_a_class(const Tensor& input, int dim, const CrossEntropyLossOptions& options) {
  return options.label_smoothing / static_cast<double>(unstacked_shape(input)[dim]);
}

/// The sum over classes of x (..., C, ...), each times its weight.
Tensor weighted_sum(const Tensor& x, const Tensor& weight, int dim) {
  if (!weight.defined()) {
    return sum(x, {dim});
  }
  Shape shape = Dims::filled(unstacked_ndim(x) - dim, 1);
  shape[0] = weight.numel();
  return sum(x * reshape(widened(weight), shape), {dim});
}

Tensor with_distributions(const Tensor& input, const Tensor& target, int dim,
                          const CrossEntropyLossOptions& options) {
  check_same_shape(kCrossEntropyLoss, input, target);
  check<ValueError>(options.ignore_index < 0, kCrossEntropyLoss,
                    ": distributions as targets have no ignore_index; got ", options.ignore_index);
  Tensor shares = widened(target);
  if (options.label_smoothing > 0) {
    const double spread = share_of_a_class(input, dim, options);
    shares = shares * (1 - options.label_smoothing) + spread;
  }
  const Tensor each = log_softmax(widened(input), dim) * shares;
  return reduce(-weighted_sum(each, options.weight, dim), options.reduction);
}

Tensor with_weighted_classes(const Tensor& input, const Tensor& target, int dim,
                             const CrossEntropyLossOptions& options) {
  ClassTargets targets(kCrossEntropyLoss, input, target, dim, options.weight, options.ignore_index);
  const Tensor logs = log_softmax(widened(input), dim);
  Tensor rows = targets.pick(logs, dim) * targets.weight;
  if (options.label_smoothing > 0) {
    const double spread = share_of_a_class(input, dim, options);
    const Tensor all = where(targets.counts, weighted_sum(logs, options.weight, dim), 0);
    rows = rows * (1 - options.label_smoothing) + all * spread;
    // Smoothing gives rows a loss whose class weighs nothing. A microbatch of such rows alone has a
    // mean if they weigh so little that no other microbatch's sum of weights can tell.
    const Tensor little = max(widened(options.weight.detach())) * 0x1p-60;
    targets.weight = where(targets.counts, maximum(targets.weight, little), 0);
  }
  return targets.reduce(-rows, options.reduction);
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& input, const Tensor& target,
                          const CrossEntropyLossOptions& options) {
  const double smoothing = options.label_smoothing;
  check(smoothing >= 0 && smoothing <= 1, kCrossEntropyLoss, ": wrong label smoothing; got ",
        smoothing, ", expected one in [0, 1]");
  const auto [x, y] = stacked_alike(input, target);
  const Shape shape = unstacked_shape(x);
  const int wanted = shape.size() == 1 ? 0 : options.class_dim;
  const int dim = normalize_dim(kCrossEntropyLoss, wanted, shape.size());
  check(shape[dim] > 0, kCrossEntropyLoss, ": the input needs classes; got ", shape);
  if (is_floating(y.dtype())) {
    return with_distributions(x, y, dim, options);
  }
  if (options.weight.defined()) {
    return with_weighted_classes(x, y, dim, options);
  }
  return cross_entropy(classes_last(x, dim), y,
                       {.ignore_index = options.ignore_index,
                        .label_smoothing = smoothing,
                        .reduction = options.reduction});
}

}  // namespace tessera::nn
