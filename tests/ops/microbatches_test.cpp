#include <tessera/core/ops/microbatches.h>

#include <gtest/gtest.h>

#include <tessera/core/tensor/factories.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const InputSpec kStacked = real({4, 3}).in_microbatches(4, 0, true);

const RegisterOpCase<UnbindMicrobatches> kUnbind{{
    .samples = {{.inputs = {real({4, 6}).in_microbatches(2, 1)}}, {.inputs = {kStacked}}},
    .wrong = {{.inputs = {real({4, 6})}}},
    .dtypes = kAllDTypes,
}};

const RegisterOpCase<JoinMicrobatches> kJoin{{
    .samples = {{.inputs = {real({4, 3}), real({4, 3})}, .attrs = {.dim = 1}},
                {.inputs = {real({3}), real({3}), real({3}), real({3})}}},
    .wrong = {{.inputs = {real({4, 3}), real({3})}, .attrs = {.dim = 0}},
              {.inputs = {real({3}), integers({3}, 0, 2)}},
              {.inputs = {real({3}), real({3})}, .attrs = {.dim = 1}}},
    .dtypes = kAllDTypes,
}};

const RegisterOpCase<SumMicrobatches> kSum{{
    .samples = {{.inputs = {kStacked}}},
    .wrong = {{.inputs = {real({4, 3})}}},
    .dtypes = kAllDTypes,
    .tolerance = {.of_largest = 2},
}};

const RegisterOpCase<RepeatMicrobatches> kRepeat{{
    .samples = {{.inputs = {real({4, 3})}, .attrs = {.parts = 2}}},
    .wrong = {{.inputs = {real({3})}, .attrs = {.parts = 0}}},
    .dtypes = kAllDTypes,
}};

TEST(Microbatches, pieces_lie_where_they_were) {
  Tensor x = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  x.get().cut = {.parts = 2, .dim = 1};
  const Outputs pieces = unbind_microbatches(x);
  EXPECT_EQ(pieces[0].to_vector<float>(), (std::vector<float>{1, 2, 5, 6}));
  EXPECT_EQ(pieces[1].to_vector<float>(), (std::vector<float>{3, 4, 7, 8}));
  const Tensor joined = join_microbatches({{pieces[0], pieces[1]}}, 1);
  EXPECT_EQ(joined.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(joined.cut(), x.cut());
}

TEST(Microbatches, are_added_along_a_tree) {
  constexpr float kTiny = 0x1p-24F;  // two of them move 1, one does not
  Tensor x = from_values<float>({1, kTiny, kTiny, kTiny}, {4});
  x.get().cut = {.parts = 4, .dim = 0, .stacked = true};
  EXPECT_EQ(sum_microbatches(x).item<float>(), 1 + 2 * kTiny);
}

}  // namespace
}  // namespace tessera
