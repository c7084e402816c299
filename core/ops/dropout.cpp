#include <tessera/core/ops/dropout.h>

#include <tessera/core/autograd/vjp.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dropout_mask.h>
#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// Which element of which microbatch each element of a tensor is.
class ElementPlaces {
 public:
  explicit ElementPlaces(const TensorImpl& x)
      : cut_(x.cut), per_part_(cut_ ? x.shape[cut_.dim] / cut_.parts : 0), inner_(x.shape) {
    if (cut_) {
      inner_[cut_.dim] = per_part_;
    }
    strides_ = contiguous_strides(inner_);
  }
  struct Place {
    std::int64_t microbatch = 0;
    std::int64_t element = 0;
  };
  [[nodiscard]] Place operator()(const Dims& index) const {
    Place place;
    for (int d = 0; d < index.size(); ++d) {
      std::int64_t i = index[d];
      if (d == cut_.dim) {
        place.microbatch = i / per_part_;
        i %= per_part_;
      }
      place.element += i * strides_[d];
    }
    return place;
  }

 private:
  Cut cut_;
  std::int64_t per_part_;
  Shape inner_;
  Strides strides_;
};

}  // namespace

void Dropout::infer(Infer& c, const Attrs& attrs) {
  check_floating("dropout", "x", c.input().dtype());
  check_probability("dropout", "p", attrs.p);
  infer_elementwise(c, 1, c.input().dtype());
}

void Dropout::reference(Kernel& k, const Attrs& attrs) {
  DropoutMask mask(attrs.p, attrs.key);
  const TensorImpl& x = k.input();
  if (x.dtype != DType::f64) {
    mask.scale = static_cast<float>(mask.scale);  // products are then those of f32 arithmetic
  }
  TensorImpl& out = k.output();
  const ElementPlaces place_of(x);
  StridedCounter<2> at(x.shape, {x.strides, out.strides});
  for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
    const auto [microbatch, element] = place_of(at.index());
    const std::int64_t sample =
        attrs.first_sample + microbatch * attrs.samples + element / attrs.per_sample;
    const double factor = mask.factor(sample, element % attrs.per_sample);
    const auto value = load_as<double>(x, at.offsets[0]);
    store_as(out, at.offsets[1], factor == 0 ? 0.0 : value * factor);
  }
}

void Dropout::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    v.set(0, call<Dropout>({v.gradient()}, attrs));
  }
}

ShardRule Dropout::shard(const Infer& c, const Attrs&) {
  return elementwise_rule(c);
}

Tensor dropout(const Tensor& x, double p) {
  check_probability("dropout", "p", p);
  if (p == 0) {
    return x;
  }
  const Pass& pass = Context::current().pass;
  if (pass.count > 1 && !x.cut()) {  // equal for all microbatches until here
    return dropout(repeat_microbatches(x, static_cast<std::int32_t>(pass.count)), p);
  }
  const std::int64_t parts = x.cut() ? x.cut().parts : 1;
  const std::int64_t elements = std::max<std::int64_t>(x.numel() / parts, 1);
  std::int64_t samples = pass.samples / pass.count;
  if (samples == 0) {  // no loader announced a pass: dim 0 holds the samples
    samples = x.ndim() > 0 ? std::max<std::int64_t>(x.shape()[0] / parts, 1) : 1;
  }
  const bool even = elements % samples == 0;
  return call<Dropout>({x}, {.p = p,
                             .key = next_random_key(),
                             .first_sample = pass.first_sample,
                             .samples = samples,
                             .per_sample = even ? elements / samples : elements});
}

Tensor dropout_factors(const Tensor& x, const Shape& shape, double p) {
  const Tensor whole = ones(shape, {.dtype = x.dtype(), .device = x.device()});
  whole.get().cut = x.cut();
  return dropout(whole, p);
}

namespace {
const Register<Dropout> register_dropout;
}

}  // namespace tessera
