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
  template <class T>
  static void put(T* p, VF x, std::int64_t) {
    store(p, x);
  }
};
struct Tail {
  static VF get(const float* p, std::int64_t n) { return load_n(p, n); }
  template <class T>
  static void put(T* p, VF x, std::int64_t n) {
    store_n(p, x, n);
  }
};

struct AdamW {
  VF keep, beta1, rest1, beta2, rest2, rate, root_scale, epsilon, gradient_scale;

  explicit AdamW(const AdamWFactors& f)
      : keep(set1(f.keep)),
        beta1(set1(f.beta1)),
        rest1(set1(f.rest1)),
        beta2(set1(f.beta2)),
        rest2(set1(f.rest2)),
        rate(set1(f.rate)),
        root_scale(set1(f.root_scale)),
        epsilon(set1(f.epsilon)),
        gradient_scale(set1(f.gradient_scale)) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF g = Access::get(r.gradient + i, n) * gradient_scale;
    const VF first = fma(beta1, Access::get(r.first + i, n), rest1 * g);
    const VF second = fma(beta2, Access::get(r.second + i, n), rest2 * g * g);
    Access::put(r.first + i, first, n);
    Access::put(r.second + i, second, n);
    const VF step = rate * first / fma(sqrt(second), root_scale, epsilon);
    const VF next = fma(keep, Access::get(r.parameter + i, n), -step);
    Access::put(r.parameter + i, next, n);
    if (r.shadow != nullptr) {
      Access::put(r.shadow + i, next, n);
    }
  }
};

struct Sgd {
  VF rate, momentum, decay, gradient_scale;
  bool nesterov, first_step;

  explicit Sgd(const SgdFactors& f)
      : rate(set1(f.rate)),
        momentum(set1(f.momentum)),
        decay(set1(f.decay)),
        gradient_scale(set1(f.gradient_scale)),
        nesterov(f.nesterov),
        first_step(f.first_step) {}

  template <class Access>
  [[gnu::always_inline]] void at(const ParameterRange& r, std::int64_t i, std::int64_t n) const {
    const VF p = Access::get(r.parameter + i, n);
    VF d = fma(decay, p, Access::get(r.gradient + i, n) * gradient_scale);
    if (r.first != nullptr) {
      const VF m = first_step ? d : fma(momentum, Access::get(r.first + i, n), d);
      Access::put(r.first + i, m, n);
      d = nesterov ? fma(momentum, m, d) : m;
    }
    const VF next = fnma(rate, d, p);
    Access::put(r.parameter + i, next, n);
    if (r.shadow != nullptr) {
      Access::put(r.shadow + i, next, n);
    }
  }
};

template <class Step, class Factors>
void run(const Factors& factors, const ParameterRange& r) {
  const Step step(factors);
  std::int64_t i = 0;
  for (; i + kLanes <= r.count; i += kLanes) {
    step.template at<Whole>(r, i, kLanes);
  }
  if (i < r.count) {
    step.template at<Tail>(r, i, r.count - i);
  }
}

double sum_of_squares(const float* x, std::int64_t count) {
  VD sums[4] = {zero_double(), zero_double(), zero_double(), zero_double()};
  const auto take = [&](VF v, int chain) __attribute__((always_inline)) {
    const VD low = low_double(v);
    const VD high = high_double(v);
    sums[chain] = fma(low, low, sums[chain]);
    sums[chain + 1] = fma(high, high, sums[chain + 1]);
  };
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    take(load_in_order(x + i), 0);
    take(load_in_order(x + i + kLanes), 2);
  }
  for (; i < count; i += kLanes) {
    take(count - i >= kLanes ? load(x + i) : load_n(x + i, count - i), 0);
  }
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

constexpr OptimizerTable kTable{run<AdamW, AdamWFactors>, run<Sgd, SgdFactors>, sum_of_squares};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kOptimizerAdded =
    IsaTable<OptimizerTable>::add(Isa::TESSERA_ISA, &kTable);
}
