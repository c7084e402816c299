// data_parallel applied to a model that is data parallel already: the bits of one process, or an
// error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

#include "any_number_of_ranks.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kSize = 12, kMicrobatches = 4;

/// Two layers, of which parts are frozen and replaced.
struct TwoLayers : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kSize, kSize};
  nn::Child<nn::Linear> second{this, "second", kSize, kSize};
  Tensor forward(const Tensor& x) const { return second(first(x)); }
};

using Bits = std::vector<std::uint64_t>;

/// Six steps; `between(model, optimizer, apply, step)` runs behind each, or, `in_passes`, behind
/// the backward of each pass that is not the last of its step.
template <class Between>
auto six_steps(const Between& between, bool in_passes = false) {
  return [=](std::int64_t at_once, const auto& wrap) {
    set_seed(3);
    const auto model = nn::make<TwoLayers>();
    auto kept = wrap(*model);
    optim::AdamW optimizer(model->parameters(), {.lr = 0.01});
    data::DataLoader loader(
        data::TensorDataset(randn({48, kSize})),
        {.batch_size = 8, .workers = 0, .grain = kMicrobatches, .at_once = at_once});
    for (auto& [x] : loader) {
      const Tensor error = model(x) - x;
      mean(error * error).backward();
      const auto apply = [&] { kept = wrap(*model); };
      if (in_passes && !Context::current().pass.last) {
        between(model, optimizer, apply, Context::current().step);
      }
      if (optimizer.step().ended && !in_passes) {
        between(model, optimizer, apply, Context::current().step);
      }
    }
    Bits bits;
    for (const auto& [name, slot] : model->named_slots()) {
      bits.push_back(hash_elements(slot->value));
    }
    return bits;
  };
}

TEST(AppliedAgain, between_steps_trains_on_as_one_process) {
  const auto train = six_steps([](auto&, auto&, const auto& apply, std::uint64_t) { apply(); });
  expect_same_bits_on_ranks(train, kMicrobatches, {1, 2, 3, 4});
}

TEST(AppliedAgain, takes_what_is_frozen_along) {
  for (const bool of_first : {false, true}) {
    const auto train = six_steps([=](auto& model, auto&, const auto& apply, std::uint64_t step) {
      nn::Module& part = of_first ? static_cast<nn::Module&>(*model->first) : *model->second;
      if (step == 2) {
        part.requires_grad_(false);
        apply();
      } else if (step == 4) {
        part.requires_grad_(true);
      }
    });
    expect_same_bits_on_ranks(train, kMicrobatches, {1, 2, 3, 4});
  }
}

TEST(AppliedAgain, follows_a_part_that_was_replaced) {
  const auto train =
      six_steps([](auto& model, auto& optimizer, const auto& apply, std::uint64_t step) {
        if (step == 3) {
          model->set_submodule("second", nn::make<nn::Linear>(kSize, kSize));
          optimizer.add_group(model->second->parameters(), {.lr = 0.02});
          apply();
        }
      });
  expect_same_bits_on_ranks(train, kMicrobatches, {1, 2, 4});
}

TEST(AppliedAgain, between_two_passes_of_a_step_is_refused) {
  const auto train = six_steps(
      [](auto&, auto&, const auto& apply, std::uint64_t step) {
        if (step == 2) {
          apply();
        }
      },
      true);
  for (const int ranks : {1, 2}) {
    EXPECT_THAT(testing_support::error_of<InvalidArgument>(
                    [&] { static_cast<void>(train_on_ranks(train, kMicrobatches, ranks, 1)); }),
                testing::HasSubstr("applied between two passes of a step"));
  }
}

TEST(AppliedAgain, for_the_first_time_between_two_passes_of_a_step_is_refused) {
  const auto late = [](std::int64_t at_once, const auto& wrap) {
    set_seed(3);
    const auto model = nn::make<TwoLayers>();
    data::DataLoader loader(data::TensorDataset(randn({8, kSize})),
                            {.batch_size = 8, .grain = kMicrobatches, .at_once = at_once});
    for (auto& [x] : loader) {
      mean(model(x) * 2.0).backward();
      wrap(*model);
    }
    return 0;
  };
  EXPECT_THAT(testing_support::error_of<InvalidArgument>(
                  [&] { static_cast<void>(train_on_ranks(late, kMicrobatches, 2, 1)); }),
              testing::HasSubstr("applied between two passes of a step"));
}

}  // namespace
}  // namespace tessera::dist
