#include <tessera/core/ops/resample.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {
namespace {

void infer_resampled(Infer& c, const Resampling& r, const Dims& from, const Dims& to) {
  const Shape& shape = c.input().shape();
  const DType dtype = c.input().dtype();
  check_floating(c.op(), "x", dtype);
  check_resampling(c.op(), r, shape, from);
  Shape result{shape[0], shape[1]};
  for (const std::int64_t size : to) {
    result.push_back(size);
  }
  check_countable(c.op(), result);
  c.add_output(result, dtype);
}

/// Calls f(x, y, out, in, weight) for all terms of all planes; x and y point to the plane.
template <class F>
void add_terms(Kernel& k, const Resampling& r, const F& f) {
  const std::array<Taps, 3> taps = taps_of(r);
  const Spatial in = sizes_in(r);
  const std::vector<double> x = dense_values<double>(k.input());
  std::vector<double> y(static_cast<std::size_t>(k.output().numel()), 0.0);
  const std::int64_t planes = k.output().shape[0] * k.output().shape[1];
  const auto x_size = static_cast<std::int64_t>(x.size()) / planes;
  const auto y_size = static_cast<std::int64_t>(y.size()) / planes;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const double* from = x.data() + plane * x_size;
    double* to = y.data() + plane * y_size;
    for_each_term(taps, in, [&](std::int64_t at_out, std::int64_t at_in, double weight) {
      f(from, to, at_out, at_in, weight);
    });
  }
  store_values(k.output(), y);
}

}  // namespace

void Resample::infer(Infer& c, const Attrs& attrs) {
  infer_resampled(c, attrs, attrs.in, attrs.out);
}

void Resample::reference(Kernel& k, const Attrs& attrs) {
  add_terms(k, attrs,
            [](const double* x, double* y, std::int64_t out, std::int64_t in, double weight) {
              y[out] += weight * x[in];
            });
}

void Resample::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<ResampleBackward>({v.gradient()}, attrs));
}

ShardRule Resample::shard(const Infer& c, const Attrs&) {
  return plane_rule(c.input().ndim(), 1, 1);
}

void ResampleBackward::infer(Infer& c, const Attrs& attrs) {
  infer_resampled(c, attrs, attrs.out, attrs.in);
}

void ResampleBackward::reference(Kernel& k, const Attrs& attrs) {
  add_terms(k, attrs,
            [](const double* gradient, double* x, std::int64_t out, std::int64_t in,
               double weight) { x[in] += weight * gradient[out]; });
}

void ResampleBackward::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<Resample>({v.gradient()}, attrs));
}

ShardRule ResampleBackward::shard(const Infer& c, const Attrs&) {
  return plane_rule(c.input().ndim(), 1, 1);
}

const Register<Resample> register_resample;
const Register<ResampleBackward> register_resample_gradient;

}  // namespace tessera
