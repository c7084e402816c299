#include <tessera/nn/optim/adamw.h>

#include <cmath>

#include <tessera/core/base/error.h>
#include <tessera/nn/optim/pieces.h>

namespace tessera::optim {
namespace {

/// The factors of one step, rounded to the parameter's type.
template <class T>
struct Factors {
  T keep, beta1, rest1, beta2, rest2, rate, root_scale, eps, scale;

  Factors(const AdamWOptions& o, std::int64_t step, double gradient_scale)
      : keep(static_cast<T>(1 - o.lr * o.weight_decay)),
        beta1(static_cast<T>(o.beta1)),
        rest1(static_cast<T>(1 - o.beta1)),
        beta2(static_cast<T>(o.beta2)),
        rest2(static_cast<T>(1 - o.beta2)),
        rate(static_cast<T>(o.lr / (1 - std::pow(o.beta1, step)))),
        root_scale(static_cast<T>(1 / std::sqrt(1 - std::pow(o.beta2, step)))),
        eps(static_cast<T>(o.eps)),
        scale(static_cast<T>(gradient_scale)) {}

  void apply(T& parameter, T gradient, T& mean, T& square) const {
    const T g = gradient * scale;
    mean = beta1 * mean + rest1 * g;
    square = beta2 * square + rest2 * g * g;
    parameter = keep * parameter - rate * mean / (std::sqrt(square) * root_scale + eps);
  }
};

}  // namespace

void AdamWOptions::validate() const {
  check(lr >= 0, "AdamW: lr is negative; got ", lr);
  check(beta1 >= 0 && beta1 < 1, "AdamW: beta1 out of range; got ", beta1, ", expected [0, 1)");
  check(beta2 >= 0 && beta2 < 1, "AdamW: beta2 out of range; got ", beta2, ", expected [0, 1)");
  check(eps >= 0, "AdamW: eps is negative; got ", eps);
  check(weight_decay >= 0, "AdamW: weight_decay is negative; got ", weight_decay);
}

AdamW::AdamW() : OptimizerWith({"exp_avg", "exp_avg_sq"}) {}

AdamW::AdamW(const std::vector<nn::Parameter>& parameters, const AdamWOptions& options) : AdamW() {
  add_group(parameters, options);
}

void AdamW::update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
                   double scale) {
  for (const Range& r : ranges) {
    for_pieces(r.parameter, [&]<class T>(std::int64_t first, std::int64_t count) {
      const Factors<T> factors(options(group), step, scale);
      T* parameter = r.parameter.get().data<T>();
      const T* gradient = r.gradient.get().data<T>();
      T* mean = r.state[0].get().data<T>();
      T* square = r.state[1].get().data<T>();
      for (std::int64_t i = first; i < first + count; ++i) {
        factors.apply(parameter[i], gradient[i], mean[i], square[i]);
      }
    });
  }
}

}  // namespace tessera::optim
