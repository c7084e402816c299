#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "support/every_isa.h"
#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = 0x1.fep127F;  // of bf16, and nearly of f32
constexpr float kMin = std::numeric_limits<float>::min();
constexpr std::array kSpecial{
    0.F,   -0.F,  kMin / 8, kMin,   kInf,    -kInf, std::nanf(""), kMax,
    -kMax, 1e30F, -1e30F,   1e-30F, -1e-30F, -1e9F, 88.8F,         -104.F,
};
/// So many of them are held by sums of products too: what is larger overflows in them, or cancels
/// so that their order shows. Those sums are f32 by promise; rows have formulas of their own as
/// oracle.
constexpr std::size_t kOfSums = 7;
constexpr std::size_t kFinite = 4;

constexpr std::size_t kScalarsOfStep = 1;   // inputs before the tensors of the first parameter
constexpr std::size_t kGradientOfStep = 2;  // input of the first parameter's

bool is_step(const OpCaseData& c) {
  return !c.overwrites.empty();
}

std::size_t count_for(const OpCaseData& c) {
  const std::size_t all = c.op->info.elementwise && !is_step(c) ? kSpecial.size() : kOfSums;
  return c.spreads_nan ? kFinite : all;
}

/// One call with special values among its inputs, and how it came about.
struct SpecialCall {
  const OpCaseData& c;
  DType dtype;
  SampleData sample;
  std::vector<Tensor> inputs;
  std::string how;

  [[nodiscard]] Outputs expected() const {
    return run_reference(*c.op, inputs, sample.attrs_in(dtype).get());
  }
  /// Nothing where the fast kernel declines. Kernels that work in place only are run so.
  [[nodiscard]] std::optional<Outputs> actual() const {
    const auto attrs = sample.attrs_in(dtype);
    if (c.overwrites.empty()) {
      const auto fast = c.op->kernels[static_cast<std::size_t>(DeviceType::cpu)];
      return run_kernel(*c.op, fast, inputs, attrs.get());
    }
    std::vector<Tensor> own;
    for (const Tensor& x : inputs) {
      own.push_back(x.defined() ? converted(x, x.dtype()) : x);
    }
    Outputs outputs;
    for (const int i : c.overwrites) {
      outputs.push_back(own[static_cast<std::size_t>(i)]);
    }
    call(*c.op, std::vector<TensorRef>(own.begin(), own.end()), attrs.get(), outputs);
    return outputs;
  }
};

/// Chooses lengths, places and values.
class SpecialCalls {
 public:
  SpecialCalls(const OpCaseData& c, std::uint64_t seed) : c_(c), random_(seed) {}

  /// Input `of_input` is filled with `value`, or has it once; or, of -1, all inputs hold many.
  SpecialCall make(const SampleData& sample, DType dtype, int of_input, float value) {
    SpecialCall call{c_, dtype, with_length(sample, dtype), {}, {}};
    call.inputs = make_inputs(call.sample, dtype);
    const bool fills = below(2) == 0;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!takes_special(call.sample, i, call.inputs[i])) {
        continue;
      }
      if (of_input < 0) {
        mix(call.inputs[i], call.inputs.size() == 1);
      } else if (static_cast<std::size_t>(of_input) % call.inputs.size() == i) {
        fills ? fill(call.inputs[i], value) : put(call.inputs[i], value);
      }
    }
    derive_inputs(call.sample, call.inputs);
    call.how = (of_input < 0 ? "many special values" : std::to_string(value)) +
               (fills ? " filling" : " in") + " input " + std::to_string(of_input) + " " +
               std::string(to_string(dtype));
    return call;
  }

  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  static bool is_free(const InputSpec& spec) {
    return spec.kind != InputSpec::Kind::integer && spec.values.empty() && !spec.microbatches;
  }
  /// Not the results of bounded functions, which backward ops take and which hold no such numbers;
  /// of an optimizer's step the gradient alone.
  bool takes_special(const SampleData& sample, std::size_t i, const Tensor& x) const {
    const InputSpec& spec = sample.inputs[i];
    return spec.kind == InputSpec::Kind::real && spec.sweeps && spec.high > 1 && x.defined() &&
           x.numel() > 0 && (!is_step(c_) || i == kGradientOfStep);
  }
  static void fill(Tensor& x, float value) {
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      store_as(x.get(), i, double{value});
    }
  }
  void put(Tensor& x, float value) {
    const std::size_t i = below(static_cast<std::size_t>(x.numel()));
    store_as(x.get(), static_cast<std::int64_t>(i), double{value});
  }
  /// Large numbers of one input do not meet numbers near 0 of another: what one is times the other
  /// hangs on the last digit of both. Units that multiply bf16 take subnormals for 0 (VDPBF16PS),
  /// which shows beside an infinity.
  void mix(Tensor& x, bool alone) {
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      float value = kSpecial[below(count_for(c_))];
      value = x.dtype() == DType::bf16 && std::fpclassify(value) == FP_SUBNORMAL ? 0 : value;
      if (below(3) == 0 && (alone || !(std::abs(value) > 1))) {
        store_as(x.get(), i, double{value});
      }
    }
  }

  /// The sample with 1 to 33 elements, two of the longest vectors and one, along the last dim that
  /// can be cut; as it is where that does not fit, or may not fit what integers refer to.
  SampleData with_length(const SampleData& sample, DType dtype) {
    const std::span<const InputSpec> resized =
        std::span(sample.inputs).subspan(is_step(c_) ? kScalarsOfStep : 0);
    if (c_.op->shard == nullptr || !std::ranges::all_of(resized, is_free)) {
      return sample;
    }
    const auto length = static_cast<std::int64_t>(1 + below(33));
    SampleData longer = sample;
    try {
      const auto attrs = sample.attrs_in(dtype);
      const ShardRule rule = shard_rule_of(*c_.op, make_inputs(sample, dtype), attrs.get());
      const std::int8_t label = last_label(rule);
      for (std::size_t i = 0; i < rule.inputs.size(); ++i) {
        InputSpec& spec = longer.inputs[i];
        for (int d = 0; d < rule.inputs[i].size && d < spec.shape.size(); ++d) {
          if (rule.inputs[i][d] == label) {
            spec.shape[d] = length;
          }
        }
      }
      static_cast<void>(shard_rule_of(*c_.op, make_inputs(longer, dtype), attrs.get()));
      return longer;
    } catch (const Error&) {
      return sample;
    }
  }
  static std::int8_t last_label(const ShardRule& rule) {
    for (const DimLabels& input : rule.inputs) {
      for (int d = input.size; d-- > 0;) {
        if (input[d] != DimLabels::kWhole) {
          return input[d];
        }
      }
    }
    fail<InvalidArgument>("no dim can be cut");
  }

  const OpCaseData& c_;
  std::mt19937_64 random_;
};

/// Numbers near the smallest normal one and below may be 0.
Tensor without_subnormals(const Tensor& x) {
  Tensor y = converted(x, x.dtype());
  for (std::int64_t i = 0; is_floating(y.dtype()) && i < y.numel(); ++i) {
    const auto value = load_as<double>(y.get(), i);
    store_as(y.get(), i, std::abs(value) < 1e-34 ? 0 : value);
  }
  return y;
}

void expect_kernel_holds(const SpecialCall& call) {
  const Outputs expected = call.expected();
  Tolerance tolerance = call.c.tolerance;  // for calls as short as the case's own
  tolerance.ulps *= 4, tolerance.of_largest *= 4;
  on_every_isa([&](cpu::Isa isa) {
    const auto actual = call.actual();
    for (std::size_t i = 0; actual && i < expected.size(); ++i) {
      if (i < static_cast<std::size_t>(call.c.gradient_outputs)) {
        expect_near(without_subnormals((*actual)[i]), without_subnormals(expected[i]), tolerance,
                    std::string(call.c.op->info.name) + ", " + call.how + ", " +
                        std::string(cpu::to_string(isa)) + ", output " + std::to_string(i));
      }
    }
  });
}

/// The same sample in every run: --gtest_shuffle takes another.
std::uint64_t seed_of(const OpCaseData& c) {
  const std::string name = c.op->info.name + c.variant;
  const auto run =
      GTEST_FLAG_GET(shuffle)
          ? static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed())
          : 0;
  return std::hash<std::string>()(name) + 0x9e3779b97f4a7c15 * run;
}

}  // namespace

void check_special_values(const OpCaseData& c) {
  const NoGradGuard no_grad;
  SpecialCalls calls(c, seed_of(c));
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : c.dtypes) {
      if (dtype != DType::f32 && dtype != DType::bf16) {
        continue;
      }
      for (std::size_t s = 0; s < count_for(c); ++s) {
        const int input = static_cast<int>(calls.below(sample.inputs.size()));
        expect_kernel_holds(calls.make(sample, dtype, input, kSpecial[s]));
      }
      for (int i = 0; i < 4; ++i) {
        expect_kernel_holds(calls.make(sample, dtype, -1, 0));
      }
    }
  }
}

}  // namespace tessera::test
