// Checks that gradients of ops share: against finite differences, and that microbatches of one pass
// give the bits of passes of one microbatch.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::testing_support {

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

/// Numbers in [-1, 1] that follow from `seed`.
inline Tensor numbers(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  Tensor x = empty(shape, {.dtype = DType::f64});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto word = RandomStream{.key = seed}.word(static_cast<std::uint64_t>(i));
    x.data<double>()[i] = 2 * static_cast<double>(to_uniform(word)) - 1;
  }
  return dtype == DType::f64 ? x : cast(x, dtype);
}

/// sum(y w) with fixed weights, so that every element of y counts differently.
inline Tensor weighted_sum(const Tensor& y, std::uint64_t seed = 77) {
  return sum_to(y * numbers(y.shape(), seed, y.dtype()), {});
}

/// The same with weights for the last dim only: a loss of each microbatch alone.
inline Tensor loss_of_samples(const Tensor& y) {
  return sum_to(y * numbers({y.shape().back()}, 5, y.dtype()), {});
}

inline Inputs as_leaves(const Inputs& inputs) {
  Inputs leaves;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (is_floating(x.dtype())) {
      leaves.back().set_requires_grad(true);
    }
  }
  return leaves;
}

/// Compares the gradients of `f`, which gives one number, with central differences in f64.
inline void expect_gradients_of_scalar(const Function& f, const Inputs& inputs, double tolerance) {
  const Inputs leaves = as_leaves(inputs);
  const Tensor y = f(leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].requires_grad()) {
      continue;
    }
    const Tensor gradient = grad(std::array{y}, std::array{leaves[i]}, {}, {.keep_graph = true})[0];
    ASSERT_TRUE(gradient.defined()) << "input " << i;
    ASSERT_EQ(gradient.shape(), leaves[i].shape()) << "input " << i;
    const std::vector<double> got = gradient.to_vector<double>();
    const Tensor x = leaves[i].detach();
    for (std::size_t j = 0; j < got.size(); ++j) {
      double& element = x.data<double>()[j];
      const double kept = element;
      const double step = 1e-5;
      element = kept + step;
      const double above = f(as_leaves(leaves)).item();
      element = kept - step;
      const double below = f(as_leaves(leaves)).item();
      element = kept;
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(got[j], expected, tolerance * (1 + std::abs(expected)))
          << "input " << i << " element " << j;
    }
  }
}

inline void expect_gradients(const Function& f, const Inputs& inputs, double tolerance = 1e-7) {
  expect_gradients_of_scalar([&](const Inputs& x) { return weighted_sum(f(x)); }, inputs,
                             tolerance);
}

/// The same for the gradients of the gradients.
inline void expect_second_gradients(const Function& f, const Inputs& inputs,
                                    double tolerance = 1e-6) {
  const auto first = [&](const Inputs& x) {
    Inputs wanted;
    for (const Tensor& leaf : x) {
      if (leaf.requires_grad()) {
        wanted.push_back(leaf);
      }
    }
    const Tensor y = weighted_sum(f(x));
    const auto gradients = grad(std::array{y}, wanted, {}, {.create_graph = true});
    Tensor total = y * 0.0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      total = total + weighted_sum(gradients[i], 100 + i);
    }
    return total;
  };
  expect_gradients_of_scalar(first, inputs, tolerance);
}

/// What a step left behind.
struct StepResult {
  std::vector<float> losses;
  std::vector<std::vector<float>> gradients;
};

/// Rows [first, first + count) of `x`, copied, of which `parts` microbatches consist.
inline Tensor rows_of(const Tensor& x, std::int64_t first, std::int64_t count, int parts) {
  Shape shape = x.shape();
  const std::int64_t width = x.numel() / shape[0];
  shape[0] = count;
  Tensor rows = empty(shape, {.dtype = x.dtype()});
  const std::size_t bytes = size_of(x.dtype()) * static_cast<std::size_t>(width);
  std::memcpy(rows.raw_data(),
              static_cast<const std::byte*>(x.raw_data()) + static_cast<std::size_t>(first) * bytes,
              static_cast<std::size_t>(count) * bytes);
  if (parts > 1) {
    rows.get().set_microbatches({.count = parts, .dim = 0});
  }
  return rows;
}

/// One step of `grain` microbatches over `batch` (samples in dim 0), `at_once` of them in a pass.
/// f(parameters, batch) gives the loss of a microbatch.
inline StepResult run_step(
    const std::function<Tensor(const Inputs& parameters, const Inputs& batch)>& f,
    const Inputs& parameters, const Inputs& batch, int grain, int at_once) {
  const ContextScope context(std::make_shared<Context>());
  Pass& pass = Context::current().pass;
  const std::int64_t samples = batch[0].shape()[0] / grain;
  const Inputs leaves = as_leaves(parameters);
  StepResult result;
  for (int m = 0; m < grain; m += at_once) {
    pass = {.grain = grain,
            .first = m,
            .count = at_once,
            .first_sample = m * samples,
            .samples = at_once * samples,
            .last = m + at_once == grain};
    Inputs rows;
    for (const Tensor& x : batch) {
      rows.push_back(rows_of(x, m * samples, at_once * samples, at_once));
    }
    const Tensor loss = f(leaves, rows);
    const std::vector<float> losses = loss.to_vector<float>();
    result.losses.insert(result.losses.end(), losses.begin(), losses.end());
    loss.backward();
  }
  for (const Tensor& leaf : leaves) {
    result.gradients.push_back(leaf.grad().to_vector<float>());
  }
  return result;
}

/// The same losses and gradients, bit for bit, however many microbatches share a pass.
inline void expect_same_bits_for_all_passes(
    const std::function<Tensor(const Inputs& parameters, const Inputs& batch)>& f,
    const Inputs& parameters, const Inputs& batch, int grain = 4) {
  const StepResult alone = run_step(f, parameters, batch, grain, 1);
  for (int at_once = 2; at_once <= grain; at_once *= 2) {
    const StepResult together = run_step(f, parameters, batch, grain, at_once);
    EXPECT_EQ(together.losses, alone.losses) << at_once << " at once";
    EXPECT_EQ(together.gradients, alone.gradients) << at_once << " at once";
  }
}

}  // namespace tessera::testing_support
