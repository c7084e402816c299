#include <tessera/core/ops/linear_cross_entropy.h>

#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/base/settings.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/support/loss_head.h>
#include <tessera/core/ops/support/row_sums.h>
#include <tessera/core/ops/support/target_counts.h>

namespace tessera {
namespace {

const Setting<std::int64_t> head_bytes{
    "TESSERA_HEAD_BYTES", std::int64_t{256} << 20,
    "Most bytes of logits that linear_cross_entropy holds at a time (at least 256 rows)"};

std::int32_t microbatch_count_of(const Tensor& x) {
  return x.microbatches() ? x.microbatches().count : 1;
}

MicrobatchLayout layout_per_microbatch(std::int32_t microbatch_count) {
  return microbatch_count > 1
             ? MicrobatchLayout{.count = microbatch_count, .dim = 0, .per_microbatch = true}
             : MicrobatchLayout{};
}

/// The gradients that forward assumed, rounded as those that arrive.
std::vector<double> expected_gradients(const Tensor& targets, DType dtype,
                                       const LinearCrossEntropyAttrs& attrs) {
  std::vector<double> expected = count_targets(targets, attrs.ignore_index).to_vector<double>();
  for (double& gradient : expected) {
    gradient = attrs.expected_of(gradient);
    gradient = dtype == DType::f64 ? gradient : static_cast<float>(gradient);
  }
  return expected;
}

/// The factor from the gradients that forward assumed to those that arrived, if it is one power of
/// two for all microbatches; else 0.
double power_of_two_between(const std::vector<double>& arrived,
                            const std::vector<double>& expected) {
  double factor = 0;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    if (arrived[i] == 0 && expected[i] == 0) {
      continue;  // nothing counts
    }
    const double own = arrived[i] / expected[i];
    int exponent = 0;
    if (std::abs(std::frexp(own, &exponent)) != 0.5 || (factor != 0 && own != factor)) {
      return 0;
    }
    factor = own;
  }
  return factor == 0 ? 1 : factor;
}

/// What backward does when it is recorded itself: the same from public ops.
void differentiable_vjp(Vjp& v, const LinearCrossEntropyAttrs& attrs) {
  const Tensor x = v.input(0);
  const Tensor weight = v.input(1);
  const Tensor logits = call<Linear>({x, weight, Tensor()}, {attrs.dtype});
  const Outputs loss =
      call_all<CrossEntropy>({logits, v.input(2)}, {attrs.ignore_index, attrs.label_smoothing});
  const Tensor factors = loss[2].detach();
  const Tensor rows = expand_like(v.gradient(), TensorMeta(factors.get())) * factors;
  const Tensor to_logits = call<CrossEntropyBackward>({rows, logits, v.input(2), loss[1].detach()},
                                                      {attrs.label_smoothing});
  if (v.needs(0)) {
    v.set(0, call<LinearBackwardInput>({to_logits, weight}, {attrs.dtype, x.dtype()}));
  }
  if (v.needs(1)) {
    v.set(1, linear_backward_weight(to_logits, x, attrs.dtype, weight.dtype()));
  }
}

void compute_anew(Vjp& v, const LinearCrossEntropyAttrs& attrs, bool per_microbatch) {
  Outputs results;
  results.resize(2);
  if (v.needs(1) && !per_microbatch) {
    results[1] = v.destination(1);
  }
  const Tensor gradient = v.gradient();
  const Tensor x = v.input(0);
  const Tensor weight = v.input(1);
  const Tensor targets = v.input(2);
  const TensorRef inputs[] = {gradient, x, weight, targets};
  const LinearCrossEntropyBackward::Attrs backward{attrs, per_microbatch};
  call(op_def<LinearCrossEntropyBackward>(), inputs, &backward, results);
  for (int i = 0; i < 2; ++i) {
    if (v.needs(i)) {
      v.set(i, results[static_cast<std::size_t>(i)]);
    }
  }
}

void check_inputs(const char* op, const Tensor& x, const Tensor& weight, const Tensor& targets) {
  check_layout(weight.ndim() == 2 && weight.shape()[0] > 0, op, "weight", weight.shape(),
               "(classes, width)");
  check(x.ndim() >= 1 && x.shape().back() == weight.shape()[1], op, ": wrong shape of x; got ",
        x.shape(), ", expected (..., ", weight.shape()[1], ") for weight ", weight.shape());
  check_floating(op, "x", x.dtype());
  check_floating(op, "weight", weight.dtype());
  Shape rows = x.shape();
  rows.erase(rows.size() - 1);
  check_shape(op, "targets", targets.shape(), rows);
  check_integer(op, "targets", targets.dtype());
  if (x.microbatches().per_microbatch || weight.microbatches() ||
      x.microbatches() != targets.microbatches()) {
    fail_on_microbatches(
        op, "needs x and targets cut alike along one of their dims, and the weight whole");
  }
  if (!lie_in_runs(x)) {
    fail_on_microbatches(op, "needs each microbatch's rows one behind the other");
  }
}

}  // namespace

void LinearCrossEntropy::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(0);
  const Tensor& weight = c.input(1);
  check_inputs(c.op(), x, weight, c.input(2));
  check_probability(c.op(), "label smoothing", attrs.label_smoothing);
  const std::int32_t microbatch_count = microbatch_count_of(x);
  const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  c.add_output(microbatch_count > 1 ? Shape{microbatch_count} : Shape{}, dtype,
               layout_per_microbatch(microbatch_count));
  if (attrs.gradients) {
    c.add_output(x.shape(), x.dtype(), x.microbatches());
    c.add_output(weight.shape(), weight.dtype());
  }
}

void LinearCrossEntropy::reference(Kernel& k, const Attrs& attrs) {
  LossHead head(k.input(0), k.input(1), k.input(2), attrs);
  head.run(attrs.gradients ? head.expected_gradients() : std::vector<double>());
  store_values(k.output(0), head.losses());
  if (attrs.gradients) {
    store_values(k.output(1), head.to_x());
    store_microbatch_sums(k.output(2), std::move(head).to_weight(), k.input(0).microbatches().count,
                          false);
  }
}

void LinearCrossEntropy::vjp(Vjp& v, const Attrs& attrs) {
  for (int i = 1; attrs.gradients && i < 3; ++i) {
    check<Unsupported>(!v.has_gradient(i),
                       "linear_cross_entropy: the gradients that it gives have none; detach them");
  }
  if (v.context().record) {
    differentiable_vjp(v, attrs);
    return;
  }
  // Only a leaf with one dense use gets a sum over microbatches; elsewhere they stay apart.
  const bool cut = v.input_meta(0).microbatches.count > 1;
  const bool per_microbatch =
      cut && v.needs(1) && v.context().batch_sum == BatchSum::per_microbatch;
  const double factor =
      attrs.gradients && !per_microbatch && v.has_output(1) && v.has_output(2)
          ? power_of_two_between(v.gradient().to_vector<double>(),
                                 expected_gradients(v.input(2), v.output_meta(0).dtype, attrs))
          : 0;
  if (factor == 0) {
    compute_anew(v, attrs, per_microbatch);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    if (v.needs(i)) {
      Tensor made = v.output(i + 1).detach();
      v.set(i, factor == 1 ? std::move(made) : made * factor);
    }
  }
}

ShardRule LinearCrossEntropy::shard(const Infer& c, const Attrs& attrs) {
  const int ndim = c.input(0).ndim();
  ShardRule rule;
  for (int i = 0; i < 3; ++i) {
    rule.inputs.emplace_back(c.input(i).ndim());
  }
  // Pieces are runs of rows: no dim behind one that has several.
  bool in_runs = true;
  for (int d = 0; in_runs && d + 1 < ndim; ++d) {
    rule.inputs[0][d] = rule.inputs[2][d] = static_cast<std::int8_t>(d);
    in_runs = c.input(0).shape()[d] == 1;
  }
  rule.outputs.emplace_back(0);
  if (attrs.gradients) {
    rule.outputs.push_back(rule.inputs[0]);
    rule.outputs.emplace_back(2);
  }
  return rule;
}

void LinearCrossEntropyBackward::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(1);
  const Tensor& weight = c.input(2);
  check_inputs(c.op(), x, weight, c.input(3));
  const std::int32_t microbatch_count = microbatch_count_of(x);
  check(c.input(0).numel() == microbatch_count && is_floating(c.input(0).dtype()), c.op(),
        ": wrong gradient; got ", c.input(0).shape(), " ", c.input(0).dtype(), ", expected ",
        microbatch_count, " floating numbers");
  Shape shape = weight.shape();
  if (attrs.per_microbatch) {
    shape.insert(0, microbatch_count);
  }
  c.add_output(x.shape(), x.dtype(), x.microbatches());
  c.add_output(shape, weight.dtype(),
               attrs.per_microbatch ? layout_per_microbatch(microbatch_count) : MicrobatchLayout{});
}

void LinearCrossEntropyBackward::reference(Kernel& k, const Attrs& attrs) {
  LossHead head(k.input(1), k.input(2), k.input(3), attrs.head);
  head.run(dense_values<double>(k.input(0)));
  store_values(k.output(0), head.to_x());
  const std::int32_t microbatch_count = head.microbatch_count();
  store_microbatch_sums(k.output(1), std::move(head).to_weight(), microbatch_count,
                        attrs.per_microbatch);
}

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            const LinearCrossEntropyOptions& options) {
  const CallContext context = CallContext::current();
  LinearCrossEntropyAttrs attrs{
      .ignore_index = options.ignore_index,
      .label_smoothing = options.label_smoothing,
      .max_bytes = head_bytes.get(),
      .dtype = product_dtype("linear_cross_entropy", {{"x", x}, {"weight", weight}})};
  attrs.gradients = context.record && (x.requires_grad() || weight.requires_grad());
  const Pass& pass = *context.pass;
  const std::int64_t count = x.microbatches() ? 1 : pass.count;
  attrs.expected = static_cast<double>(count) / static_cast<double>(pass.grain);
  attrs.elements = pass.grain > 1 ? static_cast<double>(elements_of_microbatch(targets)) : 0;
  Outputs outputs;
  // Kernels sum over the rows of each microbatch as if they were alone.
  const bool in_order = lie_in_runs(x) || x.microbatches() != targets.microbatches();
  const Tensor rows = in_order ? x : lay_microbatches(x, 0);
  const Tensor classes = in_order ? targets : lay_microbatches(targets, 0);
  const TensorRef inputs[] = {rows, weight, classes};
  call(op_def<LinearCrossEntropy>(), inputs, &attrs, outputs);
  return with_target_counts(std::move(outputs[0]), "linear_cross_entropy", x, targets,
                            options.ignore_index);
}

const Register<LinearCrossEntropy> register_linear_cross_entropy;
const Register<LinearCrossEntropyBackward> register_linear_cross_entropy_backward;

}  // namespace tessera
