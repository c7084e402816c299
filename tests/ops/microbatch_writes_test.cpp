// Writes to values of several microbatches, and to views of them: what they do to each microbatch
// alone, gradients too.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/as_strided.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

constexpr std::size_t kParts = 4;

/// Writes to `y`, (2, 3, 4) in every microbatch, or shows it after a write.
struct Case {
  const char* name;
  std::function<Tensor(const Tensor& y, const Tensor& x)> f;
};

std::vector<Case> cases() {
  using T = const Tensor&;
  return {
      {"mul_ of a select", [](T y, T) { return mul_(select(y, -1, 1), 3.0), y; }},
      {"copy_ to a select", [](T y, T x) { return select(y, -2, 1).copy_(select(x, -2, 0)), y; }},
      {"mul_ of a slice", [](T y, T) { return mul_(slice(y, -1, 1, 3), 3.0), y; }},
      {"mul_ of a slice with a step", [](T y, T) { return mul_(slice(y, -1, 0, 4, 2), 3.0), y; }},
      {"mul_ of a transpose", [](T y, T) { return mul_(transpose(y, -1, -2), 3.0), y; }},
      {"mul_ of an unsqueeze", [](T y, T) { return mul_(unsqueeze(y, -1), 3.0), y; }},
      {"mul_ of a view of a view",
       [](T y, T) { return mul_(select(transpose(y, -1, -2), -1, 2), 3.0), y; }},
      {"assign of a number",
       [](T y, T) {
         return assign(y, {kRest, 1}, 3.0), y;
       }},
      {"assign of a range",
       [](T y, T x) {
         return assign(y, {kRest, Range{1, 3}}, slice(x, -1, 0, 2)), y;
       }},
      {"assign of a list",
       [](T y, T) {
         return assign(y, {kRest, tensor<std::int64_t>({2, 0})}, 3.0), y;
       }},
      {"a view that was there before",
       [](T y, T) {
         const Tensor view = select(y, -1, 1);
         mul_(y, 2.0);
         return concat({view, select(y, -1, 0)}, -1);
       }},
      {"two views of one value",
       [](T y, T) {
         const Tensor one = slice(y, -1, 0, 3);
         mul_(select(y, -1, 2), 5.0);
         return one * 2.0;
       }},
  };
}

/// For values that exist once a microbatch only: these mix what would be samples.
std::vector<Case> cases_across_samples() {
  using T = const Tensor&;
  return {
      {"mul_ by what needs another shape",
       [](T y, T x) {
         return mul_(y, select(x, 0, 0)), div_(select(y, 0, 1), select(y, 0, 0)), y;
       }},
      {"mul_ of a reshape", [](T y, T) { return mul_(reshape(y, {24}), 3.0), y; }},
      {"mul_ of a select of the first dim", [](T y, T) { return mul_(select(y, 0, 1), 3.0), y; }},
      {"assign of an element",
       [](T y, T) {
         return assign(y, {1, 2, 0}, 3.0), y;
       }},
      {"mul_ of an index",
       [](T y, T) {
         return mul_(index(y, {1, Range{0, 2}}), 3.0), y;
       }},
      {"mul_ of a permute",
       [](T y, T) {
         return mul_(permute(y, {2, 0, 1}), 3.0), y;
       }},
      {"mul_ of a view by strides",
       [](T y, T) {
         return mul_(as_strided(y, {.shape = {2, 2}, .strides = {12, 1}, .offset = 1}), 3.0), y;
       }},
      {"a view by strides that was there before",
       [](T y, T) {
         const Tensor view = as_strided(y, {.shape = {2, 2}, .strides = {5, 1}, .offset = 1});
         mul_(y, 2.0);
         return view * 1.0;
       }},
  };
}

struct Result {
  Tensor value;
  std::vector<Tensor> gradients;  ///< of each microbatch's `x`
};

/// Of the microbatches `values` in one pass, joined along `dim`, or stacked if that is -1.
Result run(const Case& c, const std::vector<Tensor>& values, int dim, bool on_tape) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : values) {
    leaves.push_back(x.detach().set_requires_grad(on_tape));
  }
  const std::vector<TensorRef> pieces(leaves.begin(), leaves.end());
  const Tensor x = leaves.size() > 1 ? join_microbatches(pieces, dim) : leaves[0];
  const Tensor y = c.f(x * 2.0, x);
  if (!on_tape) {
    return {y, {}};
  }
  const Tensor total = sum(y * y * y);
  return {y, grad({&total, 1}, leaves)};
}

void expect_as_each_alone(const Case& c, int dim, bool on_tape) {
  SCOPED_TRACE(std::string(c.name) + ", dim " + std::to_string(dim));
  std::vector<Tensor> values;
  for (std::size_t m = 0; m < kParts; ++m) {
    values.push_back(rand({2, 3, 4}));
  }
  const Result all = run(c, values, dim, on_tape);
  ASSERT_TRUE(all.value.microbatches());
  for (std::size_t m = 0; m < kParts; ++m) {
    const Result alone = run(c, {values[m]}, dim, on_tape);
    expect_same_bits(unbind_microbatches(all.value)[m], alone.value, c.name);
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
      expect_same_bits(all.gradients[m], alone.gradients[i], std::string(c.name) + ", gradient");
    }
  }
}

TEST(MicrobatchWrites, to_values_that_exist_once_a_microbatch) {
  for (const Case& c : cases()) {
    expect_as_each_alone(c, -1, false);
    expect_as_each_alone(c, -1, true);
    const NoGradGuard off_the_tape;
    expect_as_each_alone(c, -1, false);
  }
}

TEST(MicrobatchWrites, to_values_that_exist_once_a_microbatch_in_all_dims) {
  for (const Case& c : cases_across_samples()) {
    expect_as_each_alone(c, -1, false);
    expect_as_each_alone(c, -1, true);
  }
}

TEST(MicrobatchWrites, to_samples) {
  for (const Case& c : cases()) {
    expect_as_each_alone(c, 0, false);
    expect_as_each_alone(c, 0, true);
  }
}

TEST(MicrobatchWrites, into_memory_that_others_show_are_refused) {
  const Tensor samples = as_microbatches(rand({8, 2}), 4, 0);
  const auto refuses = [](const Tensor& to, const Tensor& from) {
    EXPECT_THROW(to.copy_(from), Unsupported);
    const NoGradGuard off_the_tape;
    EXPECT_THROW(to.copy_(from), Unsupported);
  };
  const Tensor y = zeros({8, 2});
  refuses(y.detach(), samples);
  refuses(select(y, 1, 0), select(samples, 1, 0));
  const Tensor view = select(y, 1, 0);
  refuses(y, samples);
  const Tensor alone = zeros({8, 2});
  EXPECT_TRUE(alone.copy_(samples).microbatches());
}

}  // namespace
}  // namespace tessera::test
