// Functions that are made of several ops, with a value that exists once a microbatch: what they do
// with each microbatch alone, gradients too.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/argmax.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/glu.h>
#include <tessera/core/ops/group_norm.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/logsumexp.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/pixel_shuffle.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::test {
namespace {

constexpr int kStackedParts = 4;

struct StackedFunction {
  const char* name;
  Shape shape;  ///< of one microbatch's value
  std::function<Tensor(const Tensor& x, const Tensor& weight)> f;
};

std::vector<StackedFunction> functions() {
  using T = const Tensor&;
  return {
      {"row times matrix", {4}, [](T x, T w) { return matmul(x, w); }},
      {"matrix times column", {4}, [](T x, T w) { return matmul(w, x); }},
      {"row times column", {4}, [](T x, T w) { return matmul(x, select(w, 0, 1)); }},
      {"products of matrices", {3, 4}, [](T x, T w) { return matmul(x, w); }},
      {"softmax of the last dim", {4}, [](T x, T w) { return softmax(x, -1) * w; }},
      {"softmax of the first dim", {2, 4}, [](T x, T) { return softmax(x, 0); }},
      {"log_softmax of the last dim", {3, 4}, [](T x, T) { return log_softmax(x, -1); }},
      {"glu of the last dim", {4}, [](T x, T) { return glu(x, -1); }},
      {"glu of the first dim", {4, 3}, [](T x, T) { return glu(x, 0); }},
      {"split along the first dim", {4, 3}, [](T x, T) { return split(x, 3, 0)[1]; }},
      {"split along the last dim", {3, 4}, [](T x, T) { return split(x, 3, -1)[0]; }},
      {"stack",
       {4},
       [](T x, T w) {
         return stack({x, select(w, 0, 0), x}, -1);
       }},
      {"flatten", {3, 4}, [](T x, T) { return flatten(x, 0, -1); }},
      {"unflatten",
       {3, 4},
       [](T x, T) {
         return unflatten(x, -1, {2, 2});
       }},
      {"pixel_shuffle", {8, 2, 3}, [](T x, T) { return pixel_shuffle(x, 2); }},
      {"pixel_unshuffle", {2, 4, 6}, [](T x, T) { return pixel_unshuffle(x, 2); }},
      {"unsqueeze and expand",
       {4},
       [](T x, T) {
         return expand(unsqueeze(x, 0), {3, 4}) * 2.0;
       }},
      {"transpose", {3, 4}, [](T x, T w) { return matmul(w, transpose(x)); }},
      {"sum of the last dim", {3, 4}, [](T x, T) { return sum(x, {-1}); }},
      {"logsumexp of the first dim", {3, 4}, [](T x, T) { return logsumexp(x, {0}); }},
      {"flip", {3, 4}, [](T x, T) { return flip(x, {-1}); }},
      {"group_norm", {2, 4, 3}, [](T x, T w) { return group_norm(x, 2, select(w, 0, 0)); }},
      {"instance_norm", {2, 4, 3}, [](T x, T w) { return instance_norm(x, select(w, 0, 0)); }},
      {"batch_norm", {4, 4}, [](T x, T) { return batch_norm(x).y; }},
      {"batch_norm_with",
       {4, 4, 3},
       [](T x, T w) { return batch_norm_with(x, select(w, 0, 0), select(w, 0, 1)); }},
      {"an op that takes it twice, and another", {4, 4}, [](T x, T) { return matmul(x, x) + x; }},
      {"attention to itself", {1, 2, 3, 4}, [](T x, T) { return attention(x, x, x) + x; }},
  };
}

std::vector<StackedFunction> indexing() {
  using T = const Tensor&;
  return {
      {"index by a number", {3, 4}, [](T x, T) { return index(x, {1}); }},
      {"index by ranges",
       {3, 4},
       [](T x, T) {
         return index(x, {Range{}, Range{1, 3}});
       }},
      {"index by the rest",
       {3, 4},
       [](T x, T) {
         return index(x, {kRest, 2});
       }},
      {"index by lists that broadcast",
       {3, 4},
       [](T x, T w) {
         const Tensor list = argmax(x, -1);
         return index(w, {list, unsqueeze(list, -1)}) * sum(x);
       }},
      {"index by a list of each and one of all",
       {3, 4},
       [](T x, T w) {
         return index(x, {arange(3), argmax(x, -1)}) * sum(w);
       }},
      {"index by a list",
       {3, 4},
       [](T x, T) {
         return index(x, {Range{}, tensor<std::int64_t>({2, 0})});
       }},
  };
}

struct StackedResult {
  Tensor value;
  std::vector<Tensor> gradients;  ///< of each microbatch's `x`
};

/// Of the microbatches `values` in one pass.
StackedResult run_stacked(const StackedFunction& c, const std::vector<Tensor>& values,
                          const Tensor& weight) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : values) {
    leaves.push_back(x.detach().set_requires_grad(true));
  }
  const std::vector<TensorRef> pieces(leaves.begin(), leaves.end());
  const Tensor y = c.f(leaves.size() > 1 ? join_microbatches(pieces, -1) : leaves[0], weight);
  const Tensor total = sum(y * y);
  return {y, grad({&total, 1}, leaves)};
}

void expect_stacked_as_each_alone(const StackedFunction& c, const Tensor& weight) {
  SCOPED_TRACE(c.name);
  std::vector<Tensor> values;
  for (int m = 0; m < kStackedParts; ++m) {
    values.push_back(rand(c.shape));
  }
  const StackedResult all = run_stacked(c, values, weight);
  ASSERT_TRUE(all.value.microbatches().per_microbatch);
  for (std::size_t m = 0; m < kStackedParts; ++m) {
    const StackedResult alone = run_stacked(c, {values[m]}, weight);
    expect_same_bits(unbind_microbatches(all.value)[m], alone.value, c.name);
    expect_same_bits(all.gradients[m], alone.gradients[0], std::string(c.name) + ", gradient");
  }
}

TEST(StackedFunctions, do_what_they_do_with_each_microbatch) {
  const Tensor weight = rand({4, 4});
  for (const StackedFunction& c : functions()) {
    expect_stacked_as_each_alone(c, weight);
  }
}

TEST(StackedFunctions, index_each_microbatch) {
  const Tensor weight = rand({4, 4});
  for (const StackedFunction& c : indexing()) {
    expect_stacked_as_each_alone(c, weight);
  }
}

}  // namespace
}  // namespace tessera::test
