#include <tessera/core/ops/div.h>

#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Div::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](auto x, auto y) { return x / y; });
}

void Div::vjp(Vjp& v, const Attrs&) {
  const Tensor y = conj(v.input(1));
  v.set(0, [&] { return gradient_like(v.gradient() / y, v.input_meta(0)); });
  if (v.needs(1)) {
    const Tensor x = conj(v.input(0));
    v.set(1, gradient_like(-(v.gradient() * (x / y) / y), v.input_meta(1)));
  }
}

namespace {

/// A sum over a microbatch's samples that is divided by how many the pass has, or by how many
/// elements: `sum(loss) / x.size(0)` and `/ x.numel()` would depend on how many microbatches share
/// the pass.
void check_not_by_samples_of_pass(const Tensor& x, Number y) {
  const TensorImpl& impl = x.get();
  if (!impl.microbatches().per_microbatch || impl.microbatches().over != OverPass::sum) [[likely]] {
    return;
  }
  const std::int64_t samples = CallContext::current().pass->samples;
  const double divisor = y.real();
  const bool counts =
      samples > 0 && divisor > 0 && std::fmod(divisor, static_cast<double>(samples)) == 0;
  check<Unsupported>(!counts, "div: what exists once a microbatch is divided by ", divisor, ", ",
                     divisor != static_cast<double>(samples) ? "a multiple of " : "", "the ",
                     samples, " samples of its pass, of which a microbatch has ",
                     samples / impl.microbatches().count,
                     "; take a mean over the samples by mean(), or run one microbatch at a time "
                     "(LoaderOptions::at_once = 1); by a number that is no size of the pass, "
                     "multiply with 1 / it");
}

}  // namespace

Tensor operator/(const Tensor& x, const Tensor& y) {
  return call<Div>({x, y});
}
Tensor operator/(const Tensor& x, Number y) {
  check_not_by_samples_of_pass(x, y);
  return call<Div>({x, y.tensor()});
}
Tensor operator/(Number x, const Tensor& y) {
  return call<Div>({x.tensor(), y});
}
const Tensor& div_(const Tensor& x, const Tensor& y) {
  return call_in_place<Div>(x, {x, y});
}
const Tensor& div_(const Tensor& x, Number y) {
  check_not_by_samples_of_pass(x, y);
  return div_(x, y.tensor());
}

const Register<Div> register_div;

}  // namespace tessera
