// What layer norm and RMS norm share. With x the rows of the input:
//
//   h = (x - mean) inverse,  inverse = 1 / sqrt(mean((x - mean)^2) + epsilon),  y = h weight + bias
//
// where RMS norm takes 0 for the mean and has no bias.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>

namespace tessera {

struct NormAttrs {
  double epsilon = 1e-5;
  DType dtype = DType::f32;  ///< of y; sums are f32 (f64 for f64)
  void fields(auto&& see) const { see("epsilon", epsilon), see("dtype", dtype); }
  friend bool operator==(const NormAttrs&, const NormAttrs&) = default;
};

struct NormBackwardAttrs {
  bool weight = false;            ///< the gradient of the weight is wanted: output 1
  bool bias = false;              ///< the gradient of the bias is wanted: the last output
  DType parameters = DType::f32;  ///< of these two
  void fields(auto&& see) const {
    see("weight", weight), see("bias", bias), see("parameters", parameters);
  }
  friend bool operator==(const NormBackwardAttrs&, const NormBackwardAttrs&) = default;
};

/// Inputs of the forward ops: x, weight, bias. Outputs: y, inverse (..., 1) and, when `centered`,
/// mean (..., 1).
void infer_norm(Infer& c, const NormAttrs& attrs, bool centered);
void reference_norm(Kernel& k, const NormAttrs& attrs, bool centered);
[[nodiscard]] ShardRule norm_rule(const Infer& c);

/// Inputs of the backward ops: gradient, x, inverse, weight, and mean when centered. Outputs: the
/// gradients of x, and of weight and bias if asked for.
void infer_norm_backward(Infer& c, const NormBackwardAttrs& attrs, bool centered);
void reference_norm_backward(Kernel& k, const NormBackwardAttrs& attrs, bool centered);
[[nodiscard]] ShardRule norm_backward_rule(const Infer& c);

/// The forward ops inherit what they share, and add the rest.
template <bool kCentered>
struct RowNorm {
  using Attrs = NormAttrs;
  static void infer(Infer& c, const Attrs& attrs) { infer_norm(c, attrs, kCentered); }
  static void reference(Kernel& k, const Attrs& attrs) { reference_norm(k, attrs, kCentered); }
  static ShardRule shard(const Infer& c, const Attrs&) { return norm_rule(c); }
};

/// The dtype of y for these inputs.
[[nodiscard]] DType norm_dtype(const Tensor& x);

/// Gradient of a norm: runs `Backward` and hands out its outputs.
template <OpStruct Backward>
void norm_vjp(Vjp& v, const Tensor& inverse, const Tensor& mean) {
  check<Unsupported>(!v.has_gradient(1) && (!mean.defined() || !v.has_gradient(2)),
                     Backward::info.name,
                     ": third derivatives are not supported; write the norm out");
  NormBackwardAttrs attrs;
  attrs.weight = v.has_input(1) && v.needs(1);
  attrs.bias = v.has_input(2) && v.needs(2);
  Outputs results;
  results.emplace_back();
  if (attrs.weight) {
    attrs.parameters = v.input_meta(1).dtype;
    results.push_back(v.destination(1));
  }
  if (attrs.bias) {
    attrs.parameters = v.input_meta(2).dtype;
    results.push_back(v.destination(2));
  }
  const Tensor gradient = v.gradient();
  const Tensor x = v.input(0);
  const Tensor weight = v.has_input(1) ? v.input(1) : Tensor();
  const TensorRef inputs[] = {gradient, x, inverse, weight, mean};
  call(op_def<Backward>(), inputs, &attrs, results);
  v.set(0, [&] { return results[0]; });
  if (attrs.weight) {
    v.set(1, results[1]);
  }
  if (attrs.bias) {
    v.set(2, results[results.size() - 1]);
  }
}

/// Second derivatives of a norm: the gradient of `Backward`. With P(v) = inverse (v - mean(v) -
/// h mean(v h)), which is what `Backward` computes without a weight, the gradient of x is P(a) for
/// a = gradient weight; P is symmetric, and h and inverse depend on x through P and h again.
template <OpStruct Backward>
void norm_backward_vjp(Vjp& v, const NormBackwardAttrs& attrs, bool centered) {
  const Tensor g = v.input(0);
  const Tensor x = v.input(1);
  const Tensor inverse = v.input(2);
  const bool weighted = v.has_input(3);
  const Tensor mean = centered ? v.input(4) : Tensor();
  const Tensor h = (centered ? x + mean * -1.0 : x) * inverse;
  const Tensor a = weighted ? g * v.input(3) : g;
  const auto project = [&](const Tensor& u) {
    return call_all<Backward>({u, x, inverse, Tensor(), mean})[0];
  };
  const auto row_mean = [&](const Tensor& u) {
    Shape shape = inverse.shape();
    return sum_to(u, shape) * (1.0 / static_cast<double>(u.shape().back()));
  };
  const Tensor up = v.gradient(0);
  Tensor to_g = project(up);
  Tensor to_h = (up * row_mean(a * h) + a * row_mean(up * h)) * inverse * -1.0;
  if (weighted && v.needs(3)) {
    v.set(3, gradient_like(to_g * g, v.input_meta(3)));
  }
  if (weighted) {
    to_g = to_g * v.input(3);
  }
  if (attrs.weight && v.has_gradient(1)) {
    to_h = to_h + v.gradient(1) * g;
    to_g = to_g + v.gradient(1) * h;
  }
  if (const int bias = 1 + attrs.weight; attrs.bias && v.has_gradient(bias)) {
    to_g = to_g + v.gradient(bias);
  }
  v.set(0, [&] { return gradient_like(to_g, v.input_meta(0)); });
  if (v.needs(1)) {
    const Tensor through_inverse = h * inverse * row_mean(up * project(a)) * -1.0;
    v.set(1, gradient_like(project(to_h) + through_inverse, v.input_meta(1)));
  }
}

/// The backward op `Backward` inherits what it shares with the other.
template <class Backward, bool kCentered>
struct RowNormBackward {
  using Attrs = NormBackwardAttrs;
  static void infer(Infer& c, const Attrs& attrs) { infer_norm_backward(c, attrs, kCentered); }
  static void reference(Kernel& k, const Attrs& attrs) {
    reference_norm_backward(k, attrs, kCentered);
  }
  static void vjp(Vjp& v, const Attrs& attrs) { norm_backward_vjp<Backward>(v, attrs, kCentered); }
  static ShardRule shard(const Infer& c, const Attrs&) { return norm_backward_rule(c); }
};

}  // namespace tessera
