#include <tessera/core/ops/batch_norm.h>

#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/support/channels.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {

void BatchNorm::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(0);
  check_channels(c, x);
  check_at_least("batch_norm", "epsilon", attrs.epsilon, 0);
  check_channel_values(c, x, 1, "weight");
  check_channel_values(c, x, 2, "bias");
  check(!c.has_input(2) || c.has_input(1),
        "batch_norm: a bias needs a weight; got the bias alone, expected both");
  const DType statistics = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  c.add_output(x.shape(), attrs.dtype);
  c.add_output({x.shape()[1]}, statistics);
  c.add_output({x.shape()[1]}, statistics);
}

void BatchNorm::reference(Kernel& k, const Attrs& attrs) {
  const Channels channel_of(k.input(0));
  const std::vector<double> weight = channel_values_or(k, 1, channel_of, 1);
  const std::vector<double> bias = channel_values_or(k, 2, channel_of, 0);
  std::vector<double> x = dense_values<double>(k.input(0));
  std::vector<double> mean(channel_of.count);
  std::vector<double> variance(channel_of.count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean[channel_of(i)] += x[i];
  }
  for (double& sum : mean) {
    sum /= channel_of.values;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = x[i] - mean[channel_of(i)];
    variance[channel_of(i)] += distance * distance / channel_of.values;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = channel_of(i);
    x[i] = (x[i] - mean[c]) / std::sqrt(variance[c] + attrs.epsilon) * weight[c] + bias[c];
  }
  store_values(k.output(0), x);
  store_values(k.output(1), mean);
  store_values(k.output(2), variance);
}

void BatchNorm::vjp(Vjp& v, const Attrs& attrs) {
  check<Unsupported>(!v.has_gradient(1) && !v.has_gradient(2),
                     "batch_norm: statistics have no gradient; detach them");
  BatchNormBackward::Attrs wanted{.epsilon = attrs.epsilon};
  wanted.weight = v.has_input(1) && v.needs(1);
  wanted.bias = v.has_input(2) && v.needs(2);
  Outputs results;
  results.emplace_back();
  if (wanted.weight) {
    wanted.parameters = v.input_meta(1).dtype;
    results.push_back(v.destination(1));
  }
  if (wanted.bias) {
    wanted.parameters = v.input_meta(2).dtype;
    results.push_back(v.destination(2));
  }
  const Tensor gradient = v.gradient();
  const Tensor x = v.input(0);
  const Tensor weight = v.has_input(1) ? v.input(1) : Tensor();
  const Tensor mean = v.output(1);
  const Tensor variance = v.output(2);
  const TensorRef inputs[] = {gradient, x, mean, variance, weight};
  call(op_def<BatchNormBackward>(), inputs, &wanted, results);
  v.set(0, [&] { return results[0]; });
  if (wanted.weight) {
    v.set(1, results[1]);
  }
  if (wanted.bias) {
    v.set(2, results[results.size() - 1]);
  }
}

ShardRule BatchNorm::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (int i = 0; i < c.input_count(); ++i) {
    rule.inputs.push_back(channel_labels(c.has_input(i) ? c.input(i).ndim() : 0));
  }
  for (const OutputSpec& output : c.outputs()) {
    rule.outputs.push_back(channel_labels(output.shape.size()));
  }
  return rule;
}

namespace {

/// A parameter as the microbatches of a pass use it, so that its gradient is formed once for each.
/// Undefined ones stay so.
Outputs for_each_microbatch(const Tensor& parameter, std::int32_t microbatch_count) {
  if (parameter.defined()) {
    return unbind_microbatches(repeat_microbatches(parameter, microbatch_count));
  }
  Outputs none;
  none.resize(static_cast<std::size_t>(microbatch_count));
  return none;
}

/// Output `i` of all microbatches.
Tensor join(const std::vector<Outputs>& results, std::size_t i, const MicrobatchLayout& layout) {
  std::vector<TensorRef> pieces;
  for (const Outputs& result : results) {
    pieces.emplace_back(result[i]);
  }
  return join_microbatches(pieces, layout);
}

BatchNormResult normalize_microbatches(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                       const BatchNorm::Attrs& attrs) {
  const Outputs pieces = unbind_microbatches(x);
  const Outputs weights = for_each_microbatch(weight, x.microbatches().count);
  const Outputs biases = for_each_microbatch(bias, x.microbatches().count);
  std::vector<Outputs> results;
  for (std::size_t m = 0; m < pieces.size(); ++m) {
    results.push_back(call_all<BatchNorm>({pieces[m], weights[m], biases[m]}, attrs));
  }
  if (x.microbatches().count == 1) {
    return {join(results, 0, x.microbatches()), results[0][1], results[0][2]};
  }
  const MicrobatchLayout once{.per_microbatch = true};
  return {join(results, 0, x.microbatches()), join(results, 1, once), join(results, 2, once)};
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           double epsilon) {
  const BatchNorm::Attrs attrs{epsilon, x.dtype()};
  if (x.microbatches()) {
    return normalize_microbatches(x, weight, bias, attrs);
  }
  // Alone, too, a microbatch uses tensors of its own: what a gradient of a gradient adds to one
  // meets the use's own gradient there, before it meets other uses.
  const CallContext context = CallContext::current();
  const bool apart = context.pass->grain > 1 && context.record;
  const Tensor own = apart && x.requires_grad() ? reshape(x, x.shape()) : x;
  const Tensor own_weight = apart ? for_each_microbatch(weight, 1)[0] : weight;
  const Tensor own_bias = apart ? for_each_microbatch(bias, 1)[0] : bias;
  const Outputs results = call_all<BatchNorm>({own, own_weight, own_bias}, attrs);
  return {results[0], results[1], results[2]};
}

Tensor batch_norm_with(const Tensor& x, const Tensor& mean, const Tensor& variance,
                       const Tensor& weight, const Tensor& bias, double epsilon) {
  const DType exact = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const auto widened = [&](const char* name, const Tensor& parameter) {
    check_not_narrowed("batch_norm", name, parameter.dtype(), x.dtype());
    return cast(parameter, exact);
  };
  Tensor scale = rsqrt(widened("variance", variance) + epsilon);
  if (weight.defined()) {
    scale = scale * widened("weight", weight);
  }
  const Tensor to_zero = widened("mean", mean) * scale * -1.0;
  const Tensor shift = bias.defined() ? widened("bias", bias) + to_zero : to_zero;
  const Tensor scaled = cast(x, exact) * along_channels(scale, unstacked_ndim(x));
  return cast(scaled + along_channels(shift, unstacked_ndim(x)), x.dtype());
}

const Register<BatchNorm> register_batch_norm;

}  // namespace tessera
