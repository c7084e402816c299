#include <gtest/gtest.h>

#include <algorithm>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/reduce/global_mean.h>
#include <tessera/dist/reduce/tree.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "support/error_of.h"
#include "support/sizes.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kSteps = 5, kEach = 3;

/// Element j of a microbatch, and whether it counts.
float value_of(std::int64_t step, std::int64_t m, std::int64_t j) {
  return 0.1F * static_cast<float>((step * 7 + m * 5 + j * 3) % 11);
}
float weight_at(std::int64_t step, std::int64_t m, std::int64_t j) {
  return m == step ? 0.0F : static_cast<float>((step + m + j) % 3);
}

Tensor metric(std::int64_t step, std::int64_t first, std::int64_t count) {
  Tensor x = empty({count, kEach});
  Tensor w = empty({count, kEach});
  for (std::int64_t i = 0; i < count * kEach; ++i) {
    x.data<float>()[i] = value_of(step, first + i / kEach, i % kEach);
    w.data<float>()[i] = weight_at(step, first + i / kEach, i % kEach);
  }
  if (count > 1) {
    w.get().set_microbatches({.count = static_cast<std::int32_t>(count), .dim = 0});
    x.get().set_microbatches(w.microbatches());
  }
  return nn::weighted_mean(x, w);
}

double mean_on_ranks(int ranks, std::int64_t at_once) {
  double result = 0;
  run_ranks(ranks, [&](Communicator& comm) {
    GlobalMean mean;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (const TreeLeaf& block :
           ReductionTree::over_grain(kGrain, comm.size()).of_rank(comm.rank())) {
        const std::int64_t count = std::min(at_once, block.size);
        for (std::int64_t m = block.first; m < block.first + block.size; m += count) {
          Context::current().pass = {.grain = kGrain, .first = m, .count = count, .samples = count};
          mean.add(metric(step, m, count));
        }
      }
    }
    Context::current().pass = {};
    const double taken = mean.take(comm);
    if (comm.rank() == 0) {
      result = taken;
    }
  });
  return result;
}

TEST(GlobalMean, is_the_mean_over_what_counted_in_all_steps_on_any_layout) {
  double sum = 0;
  double total = 0;
  for (std::int64_t i = 0; i < kSteps * kGrain * kEach; ++i) {
    const std::int64_t step = i / (kGrain * kEach), m = i / kEach % kGrain, j = i % kEach;
    sum += static_cast<double>(weight_at(step, m, j)) * static_cast<double>(value_of(step, m, j));
    total += static_cast<double>(weight_at(step, m, j));
  }
  const double expected = mean_on_ranks(1, kGrain);
  EXPECT_NEAR(expected, sum / total, 1e-6);
  for (const int ranks : {1, 2, 3, 4}) {
    for (const std::int64_t at_once : {1, 2, 8}) {
      EXPECT_EQ(mean_on_ranks(ranks, at_once), expected)
          << ranks << " ranks, " << at_once << " at once";
    }
  }
}

/// What a walk over ten samples of 0 to 9, the last batch of two, gives as their mean.
double mean_of_numbers(int ranks, std::int64_t at_once) {
  double result = 0;
  run_ranks(ranks, [&](Communicator& comm) {
    Context& context = Context::current();
    context.rank = comm.rank();
    context.world_size = comm.size();
    GlobalMean all;
    data::DataLoader loader(
        data::TensorDataset{arange(0, 10, 1, {.dtype = DType::f32})},
        {.batch_size = 4, .workers = 0, .grain = 2, .at_once = at_once, .counts_steps = false});
    for (auto& [x] : loader) {
      all.add(mean(x));
    }
    const double taken = all.take(comm);
    if (comm.rank() == 0) {
      result = taken;
    }
  });
  return result;
}

TEST(GlobalMean, weighs_batches_by_their_samples) {
  EXPECT_EQ(mean_of_numbers(1, 0), 4.5);
  EXPECT_EQ(mean_of_numbers(1, 1), 4.5);
  EXPECT_EQ(mean_of_numbers(2, 0), 4.5);
}

TEST(GlobalMean, refuses_what_is_no_mean_over_samples) {
  data::DataLoader loader(data::TensorDataset{ones({8})}, {.batch_size = 8, .workers = 0});
  for (auto& [x] : loader) {
    for (const Tensor& value : {sum(x), sum(x) / sum(x * x), max(x), sqrt(mean(x))}) {
      const std::string error = testing_support::error_of([&] {
        GlobalMean().add(value);
        return 0;
      });
      EXPECT_NE(error.find("are no means over samples"), std::string::npos) << error;
    }
  }
}

TEST(GlobalMean, refuses_two_values_of_a_pass_and_passes_without_one) {
  run_ranks(1, [](Communicator& comm) {
    data::DataLoader loader(data::TensorDataset{ones({8})},
                            {.batch_size = 8, .workers = 0, .grain = 4, .at_once = 2});
    for (auto& [x] : loader) {
      GlobalMean inside;
      inside.add(mean(x));
      const std::string twice = testing_support::error_of([&] { inside.add(mean(x)); });
      EXPECT_NE(twice.find("a second value of one pass"), std::string::npos) << twice;
      const std::string few =
          testing_support::error_of([&] { static_cast<void>(inside.take(comm)); });
      EXPECT_NE(few.find("make the GlobalMean outside of the loop"), std::string::npos) << few;
    }
  });
}

}  // namespace
}  // namespace tessera::dist
