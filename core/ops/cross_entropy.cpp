#include <tessera/core/ops/cross_entropy.h>

#include <utility>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/loss_rows.h>
#include <tessera/core/ops/support/row_sums.h>
#include <tessera/core/ops/support/saved_inputs.h>
#include <tessera/core/ops/support/target_counts.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

std::ostream& operator<<(std::ostream& out, LossReduction value) {
  constexpr const char* kNames[] = {"mean", "sum", "none"};
  return out << kNames[static_cast<std::size_t>(value)];
}
namespace {

Shape row_shape(const Tensor& logits) {
  Shape shape = logits.shape();
  shape.erase(shape.size() - 1);
  return shape;
}

/// `numbers` a row, in a last dim: one of them broadcasts over the classes.
Shape column_shape(const Tensor& logits, std::int64_t numbers) {
  Shape shape = row_shape(logits);
  shape.push_back(numbers);
  return shape;
}

void check_rows(const char* op, const Tensor& logits, const Tensor& targets) {
  check_layout(logits.ndim() >= 1 && logits.shape().back() > 0, op, "logits", logits.shape(),
               "(..., classes)");
  check_floating(op, "logits", logits.dtype());
  check_integer(op, "targets", targets.dtype());
  check_shape(op, "targets", targets.shape(), row_shape(logits));
}

DimLabels row_labels(int ndim, bool with_last) {
  return DimLabels::numbered(with_last ? ndim + 1 : ndim, ndim);
}

}  // namespace

void CrossEntropy::infer(Infer& c, const Attrs& attrs) {
  const Tensor& logits = c.input(0);
  const Tensor& targets = c.input(1);
  check_rows(c.op(), logits, targets);
  check_probability("cross_entropy", "label smoothing", attrs.label_smoothing);
  const DType dtype = logits.dtype() == DType::f64 ? DType::f64 : DType::f32;
  c.add_output(attrs.reduction == LossReduction::none ? targets.shape() : Shape{}, dtype);
  c.add_output(column_shape(logits, 2), dtype);
  c.add_output(column_shape(logits, 1), dtype);
}

void CrossEntropy::reference(Kernel& k, const Attrs& attrs) {
  const auto classes = static_cast<std::size_t>(k.input(0).shape.back());
  const std::vector<double> logits = dense_values<double>(k.input(0));
  const std::vector<std::int64_t> targets = dense_values<std::int64_t>(k.input(1));
  LossRows rows(k.op(), targets, microbatch_of_rows(k.input(0), k.microbatch_count()),
                k.microbatch_count(), attrs);
  std::vector<double> sums;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const std::span line(logits.data() + row * classes, classes);
    const LineSum sum = rows.add(row, line);
    sums.insert(sums.end(), {sum.top, sum.log_sum});
  }
  store_values(k.output(1), sums);
  store_values(k.output(2), rows.factors());
  if (attrs.reduction == LossReduction::none) {
    store_values(k.output(0), rows.losses());
  } else {
    store_microbatch_sums(k, k.output(0), rows.reduced());
  }
}

void CrossEntropy::vjp(Vjp& v, const Attrs& attrs) {
  check<Unsupported>(!v.has_gradient(1) && !v.has_gradient(2),
                     "cross_entropy: statistics have no gradient; detach them");
  if (v.needs(0)) {
    const Tensor factors = v.output(2).detach();
    const bool reduced = attrs.reduction != LossReduction::none;
    const Tensor rows =
        reduced ? expand_like(v.gradient(), v.output_meta(2)) : unsqueeze(v.gradient(), -1);
    v.set(0,
          call<CrossEntropyBackward>({rows * factors, v.input(0), v.input(1), v.output(1).detach()},
                                     {attrs.label_smoothing}));
  }
}

ShardRule CrossEntropy::shard(const Infer& c, const Attrs& attrs) {
  const int ndim = c.input(1).ndim();
  const DimLabels rows = row_labels(ndim, true);
  const DimLabels each = row_labels(ndim, false);
  const DimLabels loss = attrs.reduction == LossReduction::none ? each : DimLabels(0);
  return {.inputs = {rows, each}, .outputs = {loss, rows, rows}};
}

void CrossEntropyBackward::infer(Infer& c, const Attrs&) {
  check_rows(c.op(), c.input(1), c.input(2));
  check_saved(c, 0, column_shape(c.input(1), 1));
  check_saved(c, 3, column_shape(c.input(1), 2));
  c.add_output(c.input(1).shape(), c.input(1).dtype());
}

void CrossEntropyBackward::reference(Kernel& k, const Attrs& attrs) {
  const auto classes = static_cast<std::size_t>(k.input(1).shape.back());
  const std::vector<double> gradients = dense_values<double>(k.input(0));
  std::vector<double> values = dense_values<double>(k.input(1));
  const std::vector<std::int64_t> targets = dense_values<std::int64_t>(k.input(2));
  const std::vector<double> sums = dense_values<double>(k.input(3));
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const std::span line(values.data() + row * classes, classes);
    const LineSum sum{sums[2 * row], sums[2 * row + 1]};
    loss_gradient(line, sum, targets[row], gradients[row], attrs.label_smoothing);
  }
  store_values(k.output(), values);
}

void CrossEntropyBackward::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor up = v.gradient();
  const Tensor logits = v.input(1);
  if (v.needs(0)) {
    const TensorMeta& rows = v.input_meta(0);
    Tensor one = ones(rows.shape, {.dtype = rows.dtype, .device = rows.device});
    one.get().set_microbatches(rows.microbatches);
    const Tensor each = call<CrossEntropyBackward>({one, logits, v.input(2), v.input(3)}, attrs);
    v.set(0, gradient_like(up * each, rows));
  }
  if (v.needs(1)) {
    const int last = logits.ndim() - 1;
    v.set(1, gradient_like(call<SoftmaxBackward>({up, softmax(logits, last)}, {last}) * v.input(0),
                           v.input_meta(1)));
  }
}

ShardRule CrossEntropyBackward::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input(2).ndim();
  const DimLabels rows = row_labels(ndim, true);
  return {.inputs = {rows, rows, row_labels(ndim, false), rows}, .outputs = {rows}};
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropy::Attrs& options) {
  Tensor loss = call_all<CrossEntropy>({logits, targets}, options)[0];
  if (loss.microbatches().per_microbatch && options.reduction == LossReduction::sum) {
    loss.get().set_over(OverPass::sum);
  }
  return options.reduction == LossReduction::mean
             ? with_target_counts(std::move(loss), "cross_entropy", logits, targets,
                                  options.ignore_index)
             : loss;
}

const Register<CrossEntropy> register_cross_entropy;
const Register<CrossEntropyBackward> register_cross_entropy_backward;

}  // namespace tessera
