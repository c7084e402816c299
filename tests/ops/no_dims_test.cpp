// Ops along a dim of a tensor without dims that was cut out of a larger one: what its shape once
// had behind its last dim is no size.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <tessera/core/ops/argmax.h>
#include <tessera/core/ops/cumsum.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/logsumexp.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mish.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/prod.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using AlongDim = std::function<Tensor(const Tensor& x, int dim)>;

const std::map<std::string, AlongDim> kAlongDim = {
    {"cumsum", [](const Tensor& x, int dim) { return cumsum(x, dim); }},
    {"flip", [](const Tensor& x, int dim) { return flip(x, {dim}); }},
    {"logsumexp", [](const Tensor& x, int dim) { return logsumexp(x, {dim}); }},
    {"max", [](const Tensor& x, int dim) { return max(x, {dim}); }},
    {"mean", [](const Tensor& x, int dim) { return mean(x, {dim}); }},
    {"norm", [](const Tensor& x, int dim) { return norm(x, 2, {dim}); }},
    {"prod", [](const Tensor& x, int dim) { return prod(x, {dim}); }},
    {"stack", [](const Tensor& x, int dim) { return sum(stack({x}, dim)); }},
    {"sum", [](const Tensor& x, int dim) { return sum(x, {dim}); }},
    {"transpose", [](const Tensor& x, int dim) { return transpose(x, dim, dim); }},
    {"unsqueeze", [](const Tensor& x, int dim) { return sum(unsqueeze(x, dim)); }}};

TEST(NoDims, take_dim_0_as_one_dim_of_one_element_would) {
  for (const auto& [name, f] : kAlongDim) {
    for (const int dim : {0, -1}) {
      SCOPED_TRACE(name);
      const Tensor many = full({100000}, 0.5, {.requires_grad = true});
      const Tensor x = select(many, 0, 3);
      const Tensor y = f(x, dim);
      EXPECT_EQ(y.shape(), Shape());
      EXPECT_EQ(y.item<float>(), 0.5F);
      y.backward();
      EXPECT_EQ(many.grad().to_vector<float>()[3], 1);
      EXPECT_EQ(sum(many.grad()).item<float>(), 1);
    }
  }
  EXPECT_EQ(argmax(select(ones({100}), 0, 3), 0).item<std::int64_t>(), 0);
}

TEST(NoDims, and_no_elements_are_split_into_one_piece) {
  const auto pieces = split(zeros({0, 3}), 2, 0);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].shape(), (Shape{0, 3}));
}

/// What is overwritten has no elements, and the gradient that reads it none either.
TEST(NoDims, and_no_elements_may_be_overwritten_twice) {
  const Tensor x = ones({1, 3}, {.requires_grad = true});
  const Tensor y = x * 1.0;
  const Tensor none = slice(y, 0, 1, 1);
  mish_(none);
  relu_(none);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST(NoDims, have_no_size) {
  const Tensor x = select(ones({100}), 0, 3);
  EXPECT_NE(testing_support::error_of([&] { return x.size(0); }).find("no size 0"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera
