#include <tessera/core/ops/adamw_step.h>

#include <cmath>
#include <vector>

#include <tessera/core/ops/support/step_lists.h>

namespace tessera {
namespace {

constexpr int kMembers = 4;

}  // namespace

void AdamwStep::infer(Infer& c, const Attrs& attrs) {
  check(attrs.step >= 1, "adamw_step: steps count from 1; got ", attrs.step);
  infer_step(c, kMembers);
}

void AdamwStep::reference(Kernel& k, const Attrs& attrs) {
  const auto t = static_cast<double>(attrs.step);
  const double rate = attrs.lr / (1 - std::pow(attrs.beta1, t));
  const double root_scale = 1 / std::sqrt(1 - std::pow(attrs.beta2, t));
  for (int group = 0; group < step_groups(k, kMembers); ++group) {
    for_step_elements(k, kMembers, group, [&]<class T>(T const* const* in, T* const* out, auto i) {
      const auto as = [](double x) { return static_cast<T>(x); };
      const T g = in[1][i] * as(attrs.gradient_scale);
      const T mean = as(attrs.beta1) * in[2][i] + as(1 - attrs.beta1) * g;
      const T square = as(attrs.beta2) * in[3][i] + as(1 - attrs.beta2) * g * g;
      out[0][i] = as(1 - attrs.lr * attrs.weight_decay) * in[0][i] -
                  as(rate) * mean / (std::sqrt(square) * as(root_scale) + as(attrs.eps));
      out[1][i] = mean;
      out[2][i] = square;
    });
  }
}

ShardRule AdamwStep::shard(const Infer& c, const Attrs&) {
  return step_rule(c, kMembers);
}

void adamw_step_(std::span<const AdamwTensors> parameters, const AdamwStep::Attrs& attrs) {
  std::vector<TensorRef> inputs;
  Outputs outputs;
  for (const AdamwTensors& p : parameters) {
    for (const Tensor* input : {&p.parameter, &p.gradient, &p.mean, &p.square}) {
      inputs.push_back(*input);
    }
    for (const Tensor* output : {&p.parameter, &p.mean, &p.square}) {
      outputs.push_back(*output);
    }
  }
  call(op_def<AdamwStep>(), inputs, &attrs, outputs);
}

namespace {
const Register<AdamwStep> registered;
}

}  // namespace tessera
