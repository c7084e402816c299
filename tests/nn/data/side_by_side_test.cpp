// Two loaders at once: in step, where both have the same passes, and one inside a pass of the
// other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using testing::HasSubstr;
using Loader = DataLoader<TensorDataset<1>>;
using testing_support::error_of;

LoaderOptions options(std::int64_t grain, std::int64_t at_once, bool counts_steps = true) {
  return {.batch_size = 8,
          .workers = 0,
          .grain = grain,
          .at_once = at_once,
          .counts_steps = counts_steps};
}

Loader loader(const LoaderOptions& o) {
  return Loader(TensorDataset{ones({16, 3})}, o);
}

/// In a context of its own.
std::string error_on_its_own(const auto& action) {
  const ContextScope scope(std::make_shared<Context>());
  return error_of<InvalidArgument>(action);
}

/// Takes a batch of each in turn and calls `body` with the first one's.
void in_step(const LoaderOptions& a, const LoaderOptions& b, const auto& body) {
  Loader first = loader(a), second = loader(b);
  auto x = first.begin();
  auto y = second.begin();
  for (; x != Loader::end() && y != Loader::end(); ++x, ++y) {
    body(std::get<0>(*x));
  }
}

TEST(SideBySide, loaders_of_the_same_passes_go_in_step) {
  const auto model = nn::make<nn::Linear>(3, 2);
  const auto train = [&](const Tensor& x) { mean(model(x)).backward(); };
  for (const std::int64_t at_once : {0, 1, 2}) {
    EXPECT_EQ(error_on_its_own([&] { in_step(options(4, at_once), options(4, at_once), train); }),
              "no error");
  }
}

TEST(SideBySide, loaders_of_other_passes_do_not) {
  const auto model = nn::make<nn::Linear>(3, 2);
  const auto train = [&](const Tensor& x) { mean(model(x)).backward(); };
  for (const std::int64_t at_once : {1, 2}) {
    EXPECT_THAT(error_on_its_own([&] { in_step(options(8, at_once), options(4, at_once), train); }),
                HasSubstr("two loaders in one training step have other passes"));
  }
  EXPECT_THAT(error_on_its_own([&] { in_step(options(4, 1), options(4, 2), train); }),
              HasSubstr("got microbatches 0 to 2 of 4, expected 0 to 1 of 4"));
  EXPECT_THAT(error_on_its_own([&] { in_step(options(8, 0), options(4, 0), train); }),
              HasSubstr("microbatches 0 to 4 of 4; got the batch of 0 to 8 of 8"));
}

void inside(const LoaderOptions& outer, const LoaderOptions& inner) {
  for ([[maybe_unused]] auto& batch : loader(outer)) {
    for ([[maybe_unused]] auto& other : loader(inner)) {
    }
  }
}

TEST(SideBySide, training_steps_inside_a_part_of_a_step_are_refused) {
  EXPECT_EQ(error_on_its_own([] { inside(options(4, 0), options(4, 0)); }), "no error");
  EXPECT_EQ(error_on_its_own([] { inside(options(4, 0), options(2, 1)); }), "no error");
  EXPECT_EQ(error_on_its_own([] { inside(options(4, 1), options(2, 0, false)); }), "no error");
  EXPECT_EQ(error_on_its_own([] { inside(options(4, 1, false), options(2, 0)); }), "no error");
  EXPECT_THAT(error_on_its_own([] { inside(options(4, 1), options(4, 1)); }),
              HasSubstr("training steps inside a pass of another loader"));
  EXPECT_NE(error_on_its_own([] { inside(options(4, 2), options(4, 0)); }), "no error");
}

}  // namespace
}  // namespace tessera::data
