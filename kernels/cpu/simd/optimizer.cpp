#include <tessera/kernels/cpu/simd/optimizer.h>

#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>

#include <tessera/kernels/cpu/simd/columns.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// Whole vectors, without masks in the main loop.
struct Whole {
  template <class Number>
  static VectorOf<Number> get(const Number* p, std::int64_t) {
    return load_in_order(p);
  }
  template <class Number>
  static void put(Number* p, VectorOf<Number> x, std::int64_t) {
    store(p, x);
  }
};
/// Whole vectors where nothing worth fetching follows: the range ends before.
struct Near : Whole {
  template <class Number>
  static VectorOf<Number> get(const Number* p, std::int64_t) {
    return load(p);
  }
};
struct Tail {
  template <class Number>
  static VectorOf<Number> get(const Number* p, std::int64_t n) {
    return load_n(p, n);
  }
  template <class Number>
  static void put(Number* p, VectorOf<Number> x, std::int64_t n) {
    store_n(p, x, n);
  }
};

template <class Number>
struct AdamW {
  using V = VectorOf<Number>;
  const AdamWFactors<Number>& f;
  V keep = set1(f.keep), decay = set1(f.decay), beta1 = set1(f.beta1), rest1 = set1(f.rest1),
    beta2 = set1(f.beta2), rest2 = set1(f.rest2), rate = set1(f.rate),
    root_scale = set1(f.root_scale), epsilon = set1(f.epsilon),
    gradient_scale = set1(f.gradient_scale);
  bool decays = f.decay != 0;

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRangeOf<Number>& r, std::int64_t i,
                                 std::int64_t n) const {
    const V p = Access::get(r.parameter + i, n);
    V g = Access::get(r.gradient + i, n) * gradient_scale;
    g = decays ? fma(decay, p, g) : g;
    const V mean = fma(beta1, Access::get(r.states[0] + i, n), rest1 * g);
    const V square = fma(beta2, Access::get(r.states[1] + i, n), rest2 * g * g);
    Access::put(r.states[0] + i, mean, n);
    Access::put(r.states[1] + i, square, n);
    V largest = square;  // a nan stays one: max gives its second number then
    if (r.states[2] != nullptr) {
      largest = max(Access::get(r.states[2] + i, n), square);
      Access::put(r.states[2] + i, largest, n);
    }
    const V step = rate * mean / fma(sqrt(largest), root_scale, epsilon);
    Access::put(r.parameter + i, fma(keep, p, -step), n);
  }
};

template <class Number>
struct Sgd {
  using V = VectorOf<Number>;
  const SgdFactors<Number>& f;
  V rate = set1(f.rate), momentum = set1(f.momentum), rest = set1(f.rest), decay = set1(f.decay),
    gradient_scale = set1(f.gradient_scale);
  bool nesterov = f.nesterov, first_step = f.first_step;

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRangeOf<Number>& r, std::int64_t i,
                                 std::int64_t n) const {
    const V p = Access::get(r.parameter + i, n);
    V d = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    if (r.states[0] != nullptr) {
      const V m = first_step ? d : fma(momentum, Access::get(r.states[0] + i, n), rest * d);
      Access::put(r.states[0] + i, m, n);
      d = nesterov ? fma(momentum, m, d) : m;
    }
    Access::put(r.parameter + i, fnma(rate, d, p), n);
  }
};

template <class Number>
struct Adagrad {
  using V = VectorOf<Number>;
  const AdagradFactors<Number>& f;
  V rate = set1(f.rate), decay = set1(f.decay), epsilon = set1(f.epsilon),
    initial = set1(f.initial), gradient_scale = set1(f.gradient_scale);
  bool first_step = f.first_step;

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRangeOf<Number>& r, std::int64_t i,
                                 std::int64_t n) const {
    const V p = Access::get(r.parameter + i, n);
    const V g = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    const V sum = fma(g, g, first_step ? initial : Access::get(r.states[0] + i, n));
    Access::put(r.states[0] + i, sum, n);
    Access::put(r.parameter + i, fnma(rate, g / (sqrt(sum) + epsilon), p), n);
  }
};

template <class Number>
struct Rmsprop {
  using V = VectorOf<Number>;
  const RmspropFactors<Number>& f;
  V rate = set1(f.rate), alpha = set1(f.alpha), rest = set1(f.rest), epsilon = set1(f.epsilon),
    decay = set1(f.decay), momentum = set1(f.momentum), gradient_scale = set1(f.gradient_scale);
  bool centered = f.centered, has_momentum = f.has_momentum;

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRangeOf<Number>& r, std::int64_t i,
                                 std::int64_t n) const {
    const V p = Access::get(r.parameter + i, n);
    const V g = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    const V square = fma(alpha, Access::get(r.states[0] + i, n), rest * g * g);
    Access::put(r.states[0] + i, square, n);
    V spread = square;  // a nan stays one: max gives its second number then
    if (centered) {
      const V mean = fma(alpha, Access::get(r.states[1] + i, n), rest * g);
      Access::put(r.states[1] + i, mean, n);
      spread = max(V{}, fnma(mean, mean, square));
    }
    V d = g / (sqrt(spread) + epsilon);
    if (has_momentum) {
      Number* buffer = r.states[centered ? 2 : 1];
      d = fma(momentum, Access::get(buffer + i, n), d);
      Access::put(buffer + i, d, n);
    }
    Access::put(r.parameter + i, fnma(rate, d, p), n);
  }
};

template <class Number>
struct Lion {
  using V = VectorOf<Number>;
  const LionFactors<Number>& f;
  V rate = set1(f.rate), decay = set1(f.decay), beta1 = set1(f.beta1), rest1 = set1(f.rest1),
    beta2 = set1(f.beta2), rest2 = set1(f.rest2), gradient_scale = set1(f.gradient_scale);

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRangeOf<Number>& r, std::int64_t i,
                                 std::int64_t n) const {
    const V p = Access::get(r.parameter + i, n);
    const V g = Access::get(r.gradient + i, n) * gradient_scale;
    const V mean = Access::get(r.states[0] + i, n);
    const V d = fma(beta1, mean, rest1 * g);
    const V sign = select_less(V{}, d, all<V>(1.0), select_less(d, V{}, all<V>(-1.0), V{}));
    Access::put(r.states[0] + i, fma(beta2, mean, rest2 * g), n);
    Access::put(r.parameter + i, fnma(rate, fma(decay, p, sign), p), n);
  }
};

/// All whole vectors; gives where they end. Its arguments are copies because what is stored could
/// change them otherwise, and every vector would read all pointers anew.
template <class Access, class Step, class Number>
std::int64_t run_vectors(const Step step, const ParameterRangeOf<Number> r) {
  constexpr int kStep = kLanesOf<Number>;
  std::int64_t i = 0;
  for (; i + kStep <= r.count; i += kStep) {
    step.template at<Access>(r, i, kStep);
  }
  return i;
}

template <template <class> class Step, class Number, template <class> class Factors>
void run(const Factors<Number>& factors, const ParameterRangeOf<Number>& r) {
  const Step<Number> step{factors};
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

double sum_of_squares_f64(const double* x, std::int64_t count) {
  VD sums[2] = {zero_double(), zero_double()};
  each_column_in_turns<kLanesF64>(
      count, [&](std::int64_t j, std::int64_t w, int chain) __attribute__((always_inline)) {
        const VD v = load_up_to(x + j, w);
        sums[chain] = fma(v, v, sums[chain]);
      });
  return sum(sums[0] + sums[1]);
}

template <class Number>
constexpr OptimizerSteps<Number> steps_of(double (*squares)(const Number*, std::int64_t)) {
  return {run<AdamW, Number, AdamWFactors>,     run<Sgd, Number, SgdFactors>,
          run<Adagrad, Number, AdagradFactors>, run<Rmsprop, Number, RmspropFactors>,
          run<Lion, Number, LionFactors>,       squares};
}

constexpr OptimizerTable kOptimizerTable{steps_of<float>(sum_of_squares),
                                         steps_of<double>(sum_of_squares_f64)};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kOptimizerAdded =
    IsaTable<OptimizerTable>::add(Isa::TESSERA_ISA, &kOptimizerTable);
}
