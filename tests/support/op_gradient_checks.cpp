// Gradients against central finite differences. A complex element counts as two real ones; the
// gradient of a real loss L with respect to x + iy is dL/dx + i dL/dy.
#include <gtest/gtest.h>

#include <cmath>

#include "support/op_checks.h"
#include "support/op_problem.h"
#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

using Complex = std::complex<double>;

/// The real inner product of two lists of tensors; undefined ones count as zero.
double inner(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() || !b[i].defined()) {
      continue;
    }
    const auto x = a[i].to_vector<Complex>();
    const auto y = b[i].to_vector<Complex>();
    for (std::size_t j = 0; j < x.size(); ++j) {
      sum += x[j].real() * y[j].real() + x[j].imag() * y[j].imag();
    }
  }
  return sum;
}

/// d loss / d x by central differences, as complex numbers.
template <class Loss>
std::vector<Complex> differences(Problem& p, const Tensor& x, const Loss& loss) {
  const double step = p.op_case->step;
  std::vector<Complex> result;
  TensorImpl& impl = x.get();
  const auto along = [&](std::int64_t at, Complex direction) {
    const auto value = load_as<Complex>(impl, at);
    store_as(impl, at, value + direction * step);
    derive_inputs(*p.sample, p.inputs);
    const double above = loss();
    store_as(impl, at, value - direction * step);
    derive_inputs(*p.sample, p.inputs);
    const double below = loss();
    store_as(impl, at, value);
    derive_inputs(*p.sample, p.inputs);
    return (above - below) / (2 * step);
  };
  for_each_element(impl, [&](std::int64_t at) {
    result.emplace_back(along(at, 1), is_complex(x.dtype()) ? along(at, Complex(0, 1)) : 0);
  });
  return result;
}

void expect_gradient(const Tensor& actual, const std::vector<Complex>& expected,
                     const std::string& what) {
  std::vector<Complex> a(expected.size());
  if (actual.defined()) {
    a = actual.to_vector<Complex>();
  }
  ASSERT_EQ(a.size(), expected.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(std::abs(a[i] - expected[i]), 2e-6 * (1 + std::abs(expected[i])))
        << what << ": element " << i << " is " << a[i] << ", finite differences give "
        << expected[i];
  }
}

}  // namespace

void expect_differences(Problem& p, const std::string& what) {
  const std::vector<Tensor> seeds = seeds_of(p);
  const std::vector<Tensor> actual = gradients(p, seeds);
  for (std::size_t v = 0; v < p.variables.size(); ++v) {
    const Tensor& x = p.inputs[p.variables[v]];
    if (actual[v].defined()) {
      ASSERT_EQ(actual[v].shape(), x.shape());
      ASSERT_EQ(actual[v].dtype(), x.dtype());
    }
    const auto expected = differences(p, x, [&] {
      const NoGradGuard no_grad;
      return inner(differentiable_outputs(p), seeds);
    });
    expect_gradient(actual[v], expected, what + " input " + std::to_string(p.variables[v]));
  }
}

void check_gradient(const OpCaseData& c) {
  for (std::size_t s = 0; s < c.samples.size(); ++s) {
    Problem p = problem_of(c, c.samples[s]);
    expect_differences(p, std::string(c.op->info.name) + " sample " + std::to_string(s));
  }
}

namespace {

/// The gradient of the gradient of a call with respect to `seeds` and the call's variables.
std::vector<Tensor> second_gradients(const Problem& p, const std::vector<Tensor>& seeds,
                                     const std::vector<Tensor>& variables) {
  std::vector<Tensor> roots;
  std::vector<Tensor> root_weights;
  for (const Tensor& g : gradients(p, seeds, true)) {
    if (g.defined() && g.requires_grad()) {
      roots.push_back(g);
      root_weights.push_back(weights_for(g, 2));
    }
  }
  return roots.empty() ? roots : grad(roots, variables, root_weights);
}

std::vector<Tensor> seeds_with_gradients(const Problem& p) {
  std::vector<Tensor> seeds;
  for (const Tensor& y : differentiable_outputs(p)) {
    seeds.push_back(weights_for(y, 1).set_requires_grad(true));
  }
  return seeds;
}

std::vector<Tensor> variables_of(const Problem& p, const std::vector<Tensor>& seeds) {
  std::vector<Tensor> variables = seeds;
  for (const std::size_t i : p.variables) {
    variables.push_back(p.inputs[i]);
  }
  return variables;
}

}  // namespace

void check_second_gradient(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    Problem p = problem_of(c, sample);
    const std::vector<Tensor> seeds = seeds_with_gradients(p);
    const std::vector<Tensor> variables = variables_of(p, seeds);
    const std::vector<Tensor> actual = second_gradients(p, seeds, variables);
    for (std::size_t v = 0; v < actual.size(); ++v) {
      const auto expected = differences(p, variables[v], [&] {
        std::vector<Tensor> first = gradients(p, seeds);
        std::vector<Tensor> weights;
        for (const Tensor& g : first) {
          weights.push_back(g.defined() ? weights_for(g, 2) : g);
        }
        return inner(first, weights);
      });
      expect_gradient(actual[v], expected, std::string(c.op->info.name) + " second gradient");
    }
  }
}

void check_refuses_second_gradient(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const Problem p = problem_of(c, sample);
    const std::vector<Tensor> seeds = seeds_with_gradients(p);
    EXPECT_THROW(static_cast<void>(second_gradients(p, seeds, variables_of(p, seeds))), Unsupported)
        << c.op->info.name;
  }
}

}  // namespace tessera::test
