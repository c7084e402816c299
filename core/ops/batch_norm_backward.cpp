#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/channels.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

/// The gradient of the backward op. With h = (x - mean) inverse and P(u) = inverse (u - mean(u) - h
/// mean(u h)), which is what the op computes without a weight, the gradient of x is P(g weight); P
/// is symmetric, and h and inverse depend on x through P and h again.
class SecondOrder {
 public:
  SecondOrder(Vjp& v, const BatchNormBackward::Attrs& attrs)
      : v_(v), attrs_(attrs), ndim_(v.input(1).ndim()) {
    inverse_ = rsqrt(along_channels(v.input(3), ndim_) + attrs.epsilon);
    h_ = (v.input(1) - along_channels(v.input(2), ndim_)) * inverse_;
  }

  void run() {
    const Tensor g = v_.input(0);
    const Tensor up = v_.gradient(0);
    const Tensor weight = v_.has_input(4) ? along_channels(v_.input(4), ndim_) : Tensor();
    const Tensor a = weight.defined() ? g * weight : g;
    Tensor to_g = project(up);
    Tensor to_h = (up * average(a * h_) + a * average(up * h_)) * inverse_ * -1.0;
    if (weight.defined()) {
      set_weight(to_g * g);
      to_g = to_g * weight;
    }
    if (attrs_.weight && v_.has_gradient(1)) {
      const Tensor through_weight = along_channels(v_.gradient(1), ndim_);
      to_h = to_h + through_weight * g;
      to_g = to_g + through_weight * h_;
    }
    if (attrs_.bias && v_.has_gradient(1 + attrs_.weight)) {
      to_g = to_g + along_channels(v_.gradient(1 + attrs_.weight), ndim_);
    }
    if (v_.needs(0)) {
      v_.set(0, gradient_like(to_g, v_.input_meta(0)));
    }
    if (v_.needs(1)) {
      const Tensor through_inverse = h_ * inverse_ * average(up * project(a)) * -1.0;
      v_.set(1, gradient_like(project(to_h) + through_inverse, v_.input_meta(1)));
    }
  }

 private:
  [[nodiscard]] Tensor project(const Tensor& u) const {
    return call_all<BatchNormBackward>({u, v_.input(1), v_.input(2), v_.input(3), Tensor()},
                                       {.epsilon = attrs_.epsilon})[0];
  }
  [[nodiscard]] Tensor average(const Tensor& u) const {
    const Tensor sums = sum_to(u, inverse_.shape());
    return sums * (static_cast<double>(sums.numel()) / static_cast<double>(u.numel()));
  }
  void set_weight(const Tensor& gradient) {
    if (v_.needs(4)) {
      const Tensor sums = reshape(sum_to(gradient, inverse_.shape()), v_.input_meta(4).shape);
      v_.set(4, gradient_like(sums, v_.input_meta(4)));
    }
  }

  Vjp& v_;
  const BatchNormBackward::Attrs& attrs_;
  int ndim_;
  Tensor inverse_;
  Tensor h_;
};

/// Variances that are too large for the dtype in which they were kept, anew.
void restore_variances(const Channels& channel_of, const std::vector<double>& x,
                       const std::vector<double>& mean, std::vector<double>& variance) {
  std::vector<double> anew(variance.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = x[i] - mean[channel_of(i)];
    anew[channel_of(i)] += distance * distance / channel_of.values;
  }
  for (std::size_t c = 0; c < variance.size(); ++c) {
    variance[c] = std::isinf(variance[c]) ? anew[c] : variance[c];
  }
}

}  // namespace

void BatchNormBackward::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input(1);
  check_channels(c, x);
  check_saved(c, 0, x.shape());
  check_saved(c, 2, {x.shape()[1]});
  check_saved(c, 3, {x.shape()[1]});
  check_channel_values(c, x, 4, "weight");
  c.add_output(x.shape(), x.dtype());
  for (int i = 0; i < attrs.weight + attrs.bias; ++i) {
    c.add_output({x.shape()[1]}, attrs.parameters);
  }
}

void BatchNormBackward::reference(Kernel& k, const Attrs& attrs) {
  const Channels channel_of(k.input(1));
  std::vector<double> gradient = dense_values<double>(k.input(0));
  std::vector<double> h = dense_values<double>(k.input(1));
  const std::vector<double> mean = dense_values<double>(k.input(2));
  std::vector<double> inverse = dense_values<double>(k.input(3));
  const std::vector<double> weight = channel_values_or(k, 4, channel_of, 1);
  restore_variances(channel_of, h, mean, inverse);
  for (double& x : inverse) {
    x = 1 / std::sqrt(x + attrs.epsilon);
  }
  std::vector<double> sum(channel_of.count);
  std::vector<double> along(channel_of.count);
  for (std::size_t i = 0; i < h.size(); ++i) {
    const std::size_t c = channel_of(i);
    h[i] = (h[i] - mean[c]) * inverse[c];
    sum[c] += gradient[i];
    along[c] += gradient[i] * h[i];
  }
  for (std::size_t i = 0; i < h.size(); ++i) {
    const std::size_t c = channel_of(i);
    const double rest = gradient[i] - (sum[c] + h[i] * along[c]) / channel_of.values;
    gradient[i] = rest * inverse[c] * weight[c];
  }
  store_values(k.output(0), gradient);
  if (attrs.weight) {
    store_values(k.output(1), along);
  }
  if (attrs.bias) {
    store_values(k.output(1 + attrs.weight), sum);
  }
}

void BatchNormBackward::vjp(Vjp& v, const Attrs& attrs) {
  SecondOrder(v, attrs).run();
}

ShardRule BatchNormBackward::shard(const Infer& c, const Attrs& attrs) {
  return BatchNorm::shard(c, {.epsilon = attrs.epsilon});
}

const Register<BatchNormBackward> register_batch_norm_backward;

}  // namespace tessera
