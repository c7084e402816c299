#include <tessera/core/ops/multinomial.h>

#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/factories.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kRows = 4;

const RegisterOpCase<Multinomial> kMultinomialCase{{
    .samples = {{.inputs = {real({kRows, 6}, 0, 2)},
                 .attrs = {.count = 3, .key = 5, .first_row = 2}},
                {.inputs = {real({kRows, 6}, 0, 2)}, .attrs = {.key = 6}}},
    .wrong = {{.inputs = {integers({4}, 1, 2)}},
              {.inputs = {real({4}, -2, -1)}},
              {.inputs = {real({4}, 0, 1)}, .attrs = {.count = 0}},
              {.inputs = {real({4, 0})}},
              {.inputs = {real({})}}},
    .set_microbatch = [](Multinomial::Attrs& attrs, int index,
                         int count) { attrs.first_row += index * kRows / count; },
}};

TEST(Multinomial, draws_classes_as_often_as_they_are_probable) {
  const ContextScope context(std::make_shared<Context>());
  const Tensor drawn = multinomial(tensor({1.F, 0.F, 3.F}), 10000);
  std::vector<int> counts(3);
  for (const std::int64_t c : drawn.to_vector<std::int64_t>()) {
    ++counts[static_cast<std::size_t>(c)];
  }
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0], 2500, 200);
}

TEST(Multinomial, draws_follow_from_the_seed) {
  const ContextScope context(std::make_shared<Context>());
  const Tensor p = ones({4, 50});
  const auto first = multinomial(p).to_vector<std::int64_t>();
  EXPECT_NE(multinomial(p).to_vector<std::int64_t>(), first);
  begin_random_pass();
  EXPECT_EQ(multinomial(p).to_vector<std::int64_t>(), first);
}

TEST(Multinomial, names_a_row_that_is_no_distribution) {
  EXPECT_THROW(static_cast<void>(multinomial(zeros({2, 3}))), InvalidArgument);
  for (const float wrong : {-1.F, INFINITY, -INFINITY, NAN}) {
    EXPECT_THROW(static_cast<void>(multinomial(tensor({1.F, wrong}))), InvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace tessera
