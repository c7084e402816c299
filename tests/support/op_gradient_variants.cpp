// Gradients of calls with nothing in them, and of some inputs alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "support/op_checks.h"
#include "support/op_problem.h"
#include "support/op_tools.h"

#include <tessera/core/device/allocator.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

/// Leaves rubbish in the memory that is handed out next.
void fill_free_memory() {
  std::vector<HeldMemory> blocks;
  for (std::size_t nbytes = 64; nbytes <= 1024; nbytes += 64) {
    for (int i = 0; i < 8; ++i) {
      blocks.emplace_back(nbytes);
      std::fill_n(blocks.back().data(), nbytes, std::byte{0x41});
    }
  }
}

std::vector<Tensor> gradients_in_rubbish(const Problem& p, const std::vector<Tensor>& seeds) {
  fill_free_memory();
  return gradients(p, seeds);
}

/// False for means of nothing, which have no differences.
bool gives_numbers(const Problem& p) {
  const NoGradGuard no_grad;
  return std::ranges::all_of(differentiable_outputs(p), [](const Tensor& y) {
    const auto values = y.to_vector<std::complex<double>>();
    return std::ranges::all_of(values, [](auto v) { return std::isfinite(std::abs(v)); });
  });
}

/// Undefined stands for zeros.
void expect_same_gradient(const Tensor& narrow, const Tensor& wide, const std::string& what) {
  const std::vector<double> a =
      narrow.defined() ? narrow.to_vector<double>() : std::vector<double>();
  const std::vector<double> e = wide.defined() ? wide.to_vector<double>() : std::vector<double>();
  for (std::size_t i = 0; i < std::max(a.size(), e.size()); ++i) {
    const double expected = e.empty() ? 0 : e[i];
    ASSERT_NEAR(a.empty() ? 0 : a[i], expected, 1e-3 * (1 + std::abs(expected))) << what;
  }
}

void expect_empty_gradient(const OpCaseData& c, const SampleData& sample, std::size_t way,
                           const std::string& what) {
  Problem wide = problem_of(c, sample, inputs_of_nothing(c, sample)[way]);
  if (wide.variables.empty()) {
    return;
  }
  const std::vector<Tensor> seeds = seeds_of(wide);
  const std::vector<Tensor> expected = gradients_in_rubbish(wide, seeds);
  if (gives_numbers(wide)) {
    expect_differences(wide, what);
  }
  if (std::ranges::count(c.dtypes, DType::f32) == 0 ||
      std::ranges::any_of(wide.inputs,
                          [](const Tensor& x) { return x.defined() && is_complex(x.dtype()); })) {
    return;
  }
  const Problem narrow =
      problem_of(c, sample, inputs_of_nothing(c, sample, DType::f32)[way], DType::f32);
  const std::vector<Tensor> actual = gradients_in_rubbish(narrow, seeds_of(narrow));
  for (std::size_t v = 0; v < actual.size(); ++v) {
    expect_same_gradient(actual[v], expected[v], what + " in f32, variable " + std::to_string(v));
  }
}

/// Some variables as bits: all of few; of many each alone, and all but each.
std::vector<std::size_t> choices_among(std::size_t count) {
  constexpr std::size_t kFew = 4;
  std::vector<std::size_t> choices;
  const std::size_t all = (std::size_t{1} << count) - 1;
  for (std::size_t i = 1; count <= kFew && i < all; ++i) {
    choices.push_back(i);
  }
  for (std::size_t i = 0; count > kFew && i < count; ++i) {
    choices.push_back(std::size_t{1} << i);
    choices.push_back(all - (std::size_t{1} << i));
  }
  return choices;
}

void expect_gradients_of_each(const OpCaseData& c, const SampleData& sample, DType dtype) {
  const Problem all = problem_of(c, sample, dtype);
  const std::vector<Tensor> seeds = seeds_of(all);
  const std::vector<Tensor> expected =
      all.variables.empty() ? std::vector<Tensor>() : gradients(all, seeds);
  for (const std::size_t choice : choices_among(all.variables.size())) {
    Problem some = problem_of(c, sample, dtype);
    some.variables.clear();
    std::vector<Tensor> wanted;
    for (std::size_t v = 0; v < all.variables.size(); ++v) {
      const std::size_t i = all.variables[v];
      const bool wants = (choice >> v & 1U) != 0;
      some.inputs[i].set_requires_grad(wants);
      if (wants) {
        some.variables.push_back(i);
        wanted.push_back(expected[v]);
      }
    }
    const std::vector<Tensor> actual = gradients(some, seeds);
    for (std::size_t v = 0; v < wanted.size(); ++v) {
      const std::string what = std::string(c.op->info.name) + ": gradient of input " +
                               std::to_string(some.variables[v]) + " where those of " +
                               ::testing::PrintToString(some.variables) + " are wanted";
      ASSERT_EQ(actual[v].defined(), wanted[v].defined()) << what;
      if (wanted[v].defined()) {
        expect_same_bits(actual[v], wanted[v], what);
      }
    }
  }
}

}  // namespace

void check_empty_gradient(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::size_t ways = inputs_of_nothing(c, sample).size();
    for (std::size_t way = 0; way < ways; ++way) {
      const std::string what =
          std::string(c.op->info.name) + " of nothing, way " + std::to_string(way);
      try {
        expect_empty_gradient(c, sample, way, what);
      } catch (const InvalidArgument&) {  // no call that the op takes
      } catch (const Unsupported&) {
      }
    }
  }
}

void check_gradient_of_each(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      if (dtype == DType::f64 || std::ranges::count(c.dtypes, dtype) > 0) {
        expect_gradients_of_each(c, sample, dtype);
      }
    }
  }
}

}  // namespace tessera::test
