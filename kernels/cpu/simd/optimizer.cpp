#include <tessera/kernels/cpu/simd/optimizer.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>

#include <tessera/kernels/cpu/simd/ahead.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// Whole vectors, without masks in the main loop.
struct Whole {
  static VF get(const float* p, std::int64_t) { return load_in_order(p); }
  static void put(float* p, VF x, std::int64_t) { store(p, x); }
};
/// The same where nothing worth fetching follows: the range ends before.
struct Near : Whole {
  static VF get(const float* p, std::int64_t) { return load(p); }
};
struct Tail {
  static VF get(const float* p, std::int64_t n) { return load_n(p, n); }
  static void put(float* p, VF x, std::int64_t n) { store_n(p, x, n); }
};

struct AdamW {
  VF keep, decay, beta1, rest1, beta2, rest2, rate, root_scale, epsilon, gradient_scale;
  bool decays;

  explicit AdamW(const AdamWFactors& f)
      : keep(set1(f.keep)),
        decay(set1(f.decay)),
        beta1(set1(f.beta1)),
        rest1(set1(f.rest1)),
        beta2(set1(f.beta2)),
        rest2(set1(f.rest2)),
        rate(set1(f.rate)),
        root_scale(set1(f.root_scale)),
        epsilon(set1(f.epsilon)),
        gradient_scale(set1(f.gradient_scale)),
        decays(f.decay != 0) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    VF g = Access::get(r.gradient + i, n) * gradient_scale;
    g = decays ? fma(decay, p, g) : g;
    const VF mean = fma(beta1, Access::get(r.states[0] + i, n), rest1 * g);
    const VF square = fma(beta2, Access::get(r.states[1] + i, n), rest2 * g * g);
    Access::put(r.states[0] + i, mean, n);
    Access::put(r.states[1] + i, square, n);
    VF largest = square;  // a nan stays one: max gives its second number then
    if (r.states[2] != nullptr) {
      largest = max(Access::get(r.states[2] + i, n), square);
      Access::put(r.states[2] + i, largest, n);
    }
    const VF step = rate * mean / fma(sqrt(largest), root_scale, epsilon);
    Access::put(r.parameter + i, fma(keep, p, -step), n);
  }
};

struct Sgd {
  VF rate, momentum, rest, decay, gradient_scale;
  bool nesterov, first_step;

  explicit Sgd(const SgdFactors& f)
      : rate(set1(f.rate)),
        momentum(set1(f.momentum)),
        rest(set1(f.rest)),
        decay(set1(f.decay)),
        gradient_scale(set1(f.gradient_scale)),
        nesterov(f.nesterov),
        first_step(f.first_step) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    VF d = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    if (r.states[0] != nullptr) {
      const VF m = first_step ? d : fma(momentum, Access::get(r.states[0] + i, n), rest * d);
      Access::put(r.states[0] + i, m, n);
      d = nesterov ? fma(momentum, m, d) : m;
    }
    Access::put(r.parameter + i, fnma(rate, d, p), n);
  }
};

struct Adagrad {
  VF rate, decay, epsilon, initial, gradient_scale;
  bool first_step;

  explicit Adagrad(const AdagradFactors& f)
      : rate(set1(f.rate)),
        decay(set1(f.decay)),
        epsilon(set1(f.epsilon)),
        initial(set1(f.initial)),
        gradient_scale(set1(f.gradient_scale)),
        first_step(f.first_step) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    const VF g = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    const VF sum = fma(g, g, first_step ? initial : Access::get(r.states[0] + i, n));
    Access::put(r.states[0] + i, sum, n);
    Access::put(r.parameter + i, fnma(rate, g / (sqrt(sum) + epsilon), p), n);
  }
};

struct Rmsprop {
  VF rate, alpha, rest, epsilon, decay, momentum, gradient_scale;
  bool centered, has_momentum;

  explicit Rmsprop(const RmspropFactors& f)
      : rate(set1(f.rate)),
        alpha(set1(f.alpha)),
        rest(set1(f.rest)),
        epsilon(set1(f.epsilon)),
        decay(set1(f.decay)),
        momentum(set1(f.momentum)),
        gradient_scale(set1(f.gradient_scale)),
        centered(f.centered),
        has_momentum(f.has_momentum) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    const VF g = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    const VF square = fma(alpha, Access::get(r.states[0] + i, n), rest * g * g);
    Access::put(r.states[0] + i, square, n);
    VF spread = square;  // a nan stays one: max gives its second number then
    if (centered) {
      const VF mean = fma(alpha, Access::get(r.states[1] + i, n), rest * g);
      Access::put(r.states[1] + i, mean, n);
      spread = max(zero(), fnma(mean, mean, square));
    }
    VF d = g / (sqrt(spread) + epsilon);
    if (has_momentum) {
      float* buffer = r.states[centered ? 2 : 1];
      d = fma(momentum, Access::get(buffer + i, n), d);
      Access::put(buffer + i, d, n);
    }
    Access::put(r.parameter + i, fnma(rate, d, p), n);
  }
};

struct Lion {
  VF rate, decay, beta1, rest1, beta2, rest2, gradient_scale;

  explicit Lion(const LionFactors& f)
      : rate(set1(f.rate)),
        decay(set1(f.decay)),
        beta1(set1(f.beta1)),
        rest1(set1(f.rest1)),
        beta2(set1(f.beta2)),
        rest2(set1(f.rest2)),
        gradient_scale(set1(f.gradient_scale)) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    const VF g = Access::get(r.gradient + i, n) * gradient_scale;
    const VF mean = Access::get(r.states[0] + i, n);
    const VF d = fma(beta1, mean, rest1 * g);
    const VF sign = select_less(zero(), d, set1(1.0F), select_less(d, zero(), set1(-1.0F), zero()));
    Access::put(r.states[0] + i, fma(beta2, mean, rest2 * g), n);
    Access::put(r.parameter + i, fnma(rate, fma(decay, p, sign), p), n);
  }
};

/// All whole vectors; gives where they end.
template <class Access, class Step>
std::int64_t run_vectors(const Step& step, const ParameterRange& r) {
  std::int64_t i = 0;
  for (; i + kLanes <= r.count; i += kLanes) {
    step.template at<Access>(r, i, kLanes);
  }
  return i;
}

template <class Step, class Factors>
void run(const Factors& factors, const ParameterRange& r) {
  const Step step(factors);
  const std::int64_t i =
      r.count > kAhead ? run_vectors<Whole>(step, r) : run_vectors<Near>(step, r);
  if (i < r.count) {
    step.template at<Tail>(r, i, r.count - i);
  }
}

template <class Access>
double sum_squares(const float* x, std::int64_t count) {
  VD sums[4] = {zero_double(), zero_double(), zero_double(), zero_double()};
  const auto take = [&](VF v, int chain) __attribute__((always_inline)) {
    const VD low = low_double(v);
    const VD high = high_double(v);
    sums[chain] = fma(low, low, sums[chain]);
    sums[chain + 1] = fma(high, high, sums[chain + 1]);
  };
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    take(Access::get(x + i, kLanes), 0);
    take(Access::get(x + i + kLanes, kLanes), 2);
  }
  for (; i < count; i += kLanes) {
    take(count - i >= kLanes ? load(x + i) : load_n(x + i, count - i), 0);
  }
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

double sum_of_squares(const float* x, std::int64_t count) {
  return count > kAhead ? sum_squares<Whole>(x, count) : sum_squares<Near>(x, count);
}

constexpr OptimizerTable kOptimizerTable{run<AdamW, AdamWFactors>,     run<Sgd, SgdFactors>,
                                         run<Adagrad, AdagradFactors>, run<Rmsprop, RmspropFactors>,
                                         run<Lion, LionFactors>,       sum_of_squares};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kOptimizerAdded =
    IsaTable<OptimizerTable>::add(Isa::TESSERA_ISA, &kOptimizerTable);
}
