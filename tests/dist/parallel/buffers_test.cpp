#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "support/error_of.h"
#include "support/sizes.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kPer = 2;  // samples in a microbatch
constexpr std::int64_t kColumns = 3;

/// A running mean that is updated twice a call, so that the second update reads the first.
struct Running : nn::Module {
  nn::Buffer mean{this, "mean", full({kColumns}, 0.25)};
  nn::Buffer calls{this, "calls", zeros({}, {.dtype = DType::i64})};
  nn::Buffer idle{this, "idle", full({2}, 7)};
  Tensor forward(const Tensor& x) const {
    for (int i = 0; i < 2; ++i) {
      mean.assign(Tensor(mean) * full({}, 0.9) + sum_to(x, {kColumns}) * full({}, 0.1));
    }
    calls.assign(Tensor(calls) + full({}, 1, {.dtype = DType::i64}));
    return x;
  }
};

float sample(std::int64_t index, std::int64_t column) {
  return std::sin(static_cast<float>(index * 5 + column));
}

Tensor samples(std::int64_t first, std::int64_t microbatches) {
  Tensor x = zeros({microbatches * kPer, kColumns});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    x.data<float>()[i] = sample(first * kPer + i / kColumns, i % kColumns);
  }
  if (microbatches > 1) {
    x.get().set_microbatches({.count = static_cast<std::int32_t>(microbatches), .dim = 0});
  }
  return x;
}

struct State {
  std::vector<float> mean;
  std::int64_t calls = 0;
  std::vector<float> idle;
  friend bool operator==(const State&, const State&) = default;
};

State run_steps(const nn::Ptr<Running>& model, const std::vector<TreeLeaf>& blocks,
                std::int64_t at_once) {
  for (int step = 0; step < 2; ++step) {
    ++Context::current().step;
    for (const TreeLeaf& block : blocks) {
      const std::int64_t size = std::min(at_once, block.size);
      for (std::int64_t m = block.first; m < block.first + block.size; m += size) {
        const bool last = m + size == blocks.back().first + blocks.back().size;
        Context::current().pass = {.grain = kGrain,
                                   .first = m,
                                   .count = size,
                                   .first_sample = m * kPer,
                                   .samples = size * kPer,
                                   .last = last};
        static_cast<void>(model(samples(step * kGrain + m, size)));
      }
    }
    nn::end_step_of_buffers(nullptr);
  }
  Context::current().pass = {};
  return {Tensor(model->mean).to_vector<float>(), Tensor(model->calls).item<std::int64_t>(),
          Tensor(model->idle).to_vector<float>()};
}

State buffers_alone(std::int64_t at_once) {
  return run_steps(nn::make<Running>(), {{.rank = 0, .block = 0, .first = 0, .size = kGrain}},
                   at_once);
}

State buffers_on_ranks(int ranks, std::int64_t at_once) {
  State of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    const auto model = nn::make<Running>();
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = kGrain});
    const State mine =
        run_steps(model, ReductionTree::over_grain(kGrain, ranks).of_rank(comm.rank()), at_once);
    if (comm.rank() == ranks - 1) {
      of_last_rank = mine;
    }
  });
  return of_last_rank;
}

/// The mean over microbatches of what each would have made of the buffer alone.
std::vector<double> expected_mean() {
  std::vector<double> mean(kColumns, 0.25);
  for (std::int64_t step = 0; step < 2; ++step) {
    std::vector<double> next(kColumns);
    for (std::int64_t m = 0; m < kGrain; ++m) {
      for (std::int64_t c = 0; c < kColumns; ++c) {
        double sum = 0;
        for (std::int64_t i = 0; i < kPer; ++i) {
          sum += double{sample((step * kGrain + m) * kPer + i, c)};
        }
        double own = mean[static_cast<std::size_t>(c)];
        own = own * 0.9 + sum * 0.1;
        own = own * 0.9 + sum * 0.1;
        next[static_cast<std::size_t>(c)] += own / kGrain;
      }
    }
    mean = next;
  }
  return mean;
}

TEST(Buffers, hold_the_mean_of_what_the_microbatches_assigned) {
  const State state = buffers_alone(kGrain);
  const std::vector<double> expected = expected_mean();
  for (std::size_t c = 0; c < kColumns; ++c) {
    EXPECT_NEAR(double{state.mean[c]}, expected[c], 1e-5);
  }
  EXPECT_EQ(state.calls, 2);
  EXPECT_EQ(state.idle, std::vector<float>(2, 7));
}

TEST(Buffers, hold_the_same_bits_on_any_number_of_ranks_and_however_many_share_a_pass) {
  const State expected = buffers_alone(kGrain);
  for (const std::int64_t at_once : {1, 2, 4, 8}) {
    EXPECT_EQ(buffers_alone(at_once), expected) << at_once << " at once";
    for (const int ranks : {1, 2, 3, 4, 8}) {
      EXPECT_EQ(buffers_on_ranks(ranks, at_once), expected)
          << ranks << " ranks, " << at_once << " at once";
    }
  }
}

struct Disagreeing : nn::Module {
  nn::Buffer mean{this, "mean", zeros({})};
  nn::Buffer where{this, "where", zeros({}, {.dtype = DType::i64})};
  Tensor forward(const Tensor& x) const {
    const auto first = static_cast<double>(Context::current().pass.first);
    mean.assign(full({}, 1 + first));
    where.assign(full({}, first, {.dtype = DType::i64}));
    return x;
  }
};

TEST(Buffers, of_integers_must_agree) {
  const auto model = nn::make<Disagreeing>();
  for (std::int64_t m = 0; m < 2; ++m) {
    Context::current().pass = {.grain = 2, .first = m, .samples = 1, .last = m == 1};
    static_cast<void>(model(zeros({1})));
  }
  EXPECT_THROW(nn::end_step_of_buffers(nullptr), InvalidArgument);
  Context::current().pass = {};
  EXPECT_EQ(Tensor(model->mean).item<float>(), 0);  // nor does one that they agree on change
}

TEST(Buffers, of_pure_calls_hold_the_mean_of_what_the_microbatches_assigned) {
  const State expected =
      run_steps(nn::make<Running>(), {{.rank = 0, .block = 0, .first = 0, .size = kGrain}}, kGrain);
  auto model = nn::make<Running>();
  Context::current().pass = {.grain = kGrain, .count = kGrain, .samples = kGrain * kPer};
  for (int step = 0; step < 2; ++step) {
    model = nn::update(model, samples(step * kGrain, kGrain));
  }
  Context::current().pass = {};
  EXPECT_EQ(Tensor(model->mean).to_vector<float>(), expected.mean);
  EXPECT_EQ(Tensor(model->calls).item<std::int64_t>(), expected.calls);
}

/// What `action` throws as a RuntimeError on one of two ranks that train together.
template <class F>
std::string refused(const F& action) {
  std::string text;
  run_ranks(2, [&](Communicator& comm) {
    const auto model = nn::make<Running>();
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = kGrain});
    try {
      action(*model);
    } catch (const RuntimeError& error) {
      if (comm.rank() == 0) {
        text = error.what();
      }
    }
  });
  return text;
}

TEST(Buffers, that_ranks_keep_equal_are_neither_cast_nor_replaced) {
  EXPECT_EQ(refused([](nn::Module& model) { model.to(DType::f64); }),
            "Running: \"mean\" is kept equal on several ranks; cast and move a model before that");
  EXPECT_EQ(refused([](nn::Module& model) {
              model.load_state_dict(model.state_dict(), {.assign = true});
            }),
            "load_state_dict(Running): 3 problems\n"
            "\t\"mean\": is kept equal on several ranks; assign before that\n"
            "\t\"calls\": is kept equal on several ranks; assign before that\n"
            "\t\"idle\": is kept equal on several ranks; assign before that");
  EXPECT_EQ(refused([](nn::Module& model) { model.load_state_dict(model.state_dict()); }), "");
}

TEST(Buffers, take_values_at_once_outside_steps_of_several_microbatches_and_in_evaluation) {
  const auto model = nn::make<Running>();
  static_cast<void>(model(samples(0, 1)));
  EXPECT_EQ(Tensor(model->calls).item<std::int64_t>(), 1);
  Context::current().pass = {.grain = 2, .samples = 1, .training = false};
  static_cast<void>(model(samples(0, 1)));
  EXPECT_EQ(Tensor(model->calls).item<std::int64_t>(), 2);
  Context::current().pass = {};
}

TEST(Buffers, are_not_assigned_to_while_a_forward_is_repeated) {
  const auto model = nn::make<Running>();
  static_cast<void>(model(samples(0, 1)));
  const ModeGuard<&Modes::recomputing> repeating(true);
  static_cast<void>(model(samples(0, 1)));
  EXPECT_EQ(Tensor(model->calls).item<std::int64_t>(), 1);
}

struct Mixing : nn::Module {
  [[nodiscard]] bool mixes_samples() const override { return true; }
  Tensor forward(const Tensor& x) const { return x; }
};

TEST(Buffers, a_module_that_mixes_samples_is_said_once_and_limits_passes) {
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  run_ranks(1, [](Communicator& comm) {
    const auto model = nn::make<Mixing>();
    for (int i = 0; i < 2; ++i) {
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    }
    EXPECT_TRUE(Context::current().mixes_samples);
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("Mixing"), std::string::npos) << lines[0];
}

/// A network that counts its calls in place.
struct CountsInPlace : nn::Module {
  nn::Child<nn::Linear> body{this, "body", kWidth, kWidth};
  nn::Buffer calls{this, "calls", zeros({})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    add_(calls.value(), 1.0);
    return body(x);
  }
};

/// The calls that it has counted behind steps of `grain` microbatches.
float calls_counted(std::int64_t grain) {
  const auto model = nn::make<CountsInPlace>();
  data::DataLoader loader(data::TensorDataset{ones({kSamples, kWidth})},
                          {.batch_size = 16, .workers = 0, .grain = grain});
  for (auto& [x] : loader) {
    static_cast<void>(model(x));
  }
  add_(model->calls.value(), 10.0);  // no forward's
  return model->calls.value().item<float>();
}

TEST(Buffers, are_written_in_place_by_no_forward_in_a_step_of_several_microbatches) {
  EXPECT_EQ(calls_counted(1), 12);
  const std::string error = testing_support::error_of([] { return calls_counted(4); });
  EXPECT_NE(error.find("add: a forward writes to a buffer in place"), std::string::npos) << error;
}

/// A network that follows the middle of what it sees.
struct Follows : nn::Module {
  nn::Child<nn::Linear> body{this, "body", kWidth, kWidth};
  nn::Buffer middle{this, "middle", zeros({kWidth})};
  nn::Buffer heat{this, "heat", ones({})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    middle.assign(middle.value() * 0.9 + mean(x, {0}) * 0.1);
    return body(x) + middle.value();
  }
};

/// What a program keeps of buffers once a step: a mean over time in a twin that nobody trains, and
/// a temperature of its own.
std::vector<float> kept_once_a_step(std::int64_t at_once,
                                    const std::function<void(nn::Module&)>& wrap) {
  set_seed(7);
  const auto model = nn::make<Follows>(), twin = nn::make<Follows>();
  data::DataLoader loader(data::TensorDataset{randn({kSamples, kWidth})},
                          {.batch_size = 16, .workers = 0, .grain = kGrain, .at_once = at_once});
  wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  for (auto& [x] : loader) {
    mean(model(x) * model->heat.value()).backward();
    if (optimizer.step().ended) {
      twin->middle.assign(twin->middle.value() * 0.9 + model->middle.value() * 0.1);
      model->heat.assign(model->heat.value() * 0.5);
      model->heat.assign(model->heat.value() + 0.125);
    }
  }
  auto values = model->body->weight.value().to_vector<float>();
  const auto middle = twin->middle.value().to_vector<float>();
  values.insert(values.end(), middle.begin(), middle.end());
  values.push_back(model->heat.value().item<float>());
  return values;
}

TEST(Buffers, take_what_is_assigned_behind_the_step_at_once) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return kept_once_a_step(at_once, [&](nn::Module& model) { static_cast<void>(wrap(model)); });
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  const auto values = train(0, [](nn::Module&) { return 0; });
  float heat = 1;
  for (std::int64_t step = 0; step < kSamples / 16; ++step) {
    heat = heat * 0.5F + 0.125F;
  }
  EXPECT_EQ(values.back(), heat);
  EXPECT_NE(values[values.size() - 2], 0);
}

/// Assigns behind the step what `value` says of a batch, in all passes or where the step ended.
template <class Wrap>
float assigned_behind(bool always, const std::function<Tensor(const Tensor& x)>& value,
                      std::int64_t at_once, const Wrap& wrap) {
  set_seed(7);
  const auto model = nn::make<Follows>();
  data::DataLoader loader(data::TensorDataset{randn({kSamples, kWidth})},
                          {.batch_size = 16, .workers = 0, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto handle = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  for (auto& [x] : loader) {
    mean(model(x)).backward();
    if (optimizer.step().ended || always) {
      model->heat.assign(value(x));
    }
  }
  return model->heat.value().template item<float>();
}

TEST(Buffers, take_nothing_behind_a_step_that_is_put_off_and_means_of_samples) {
  const auto one = [](const Tensor&) { return full({}, 1.5); };
  const auto seen = [](const Tensor& x) { return mean(x); };
  const auto alone = [](nn::Module&) { return 0; };
  EXPECT_EQ(assigned_behind(true, one, 0, alone), 1.5F);
  const std::string early =
      testing_support::error_of([&] { return assigned_behind(true, one, 2, alone); });
  EXPECT_NE(early.find("in a pass of its training step that is not the last"), std::string::npos)
      << early;
  set_seed(7);
  const Tensor last = slice(randn({kSamples, kWidth}), 0, kSamples - 16, kSamples);
  EXPECT_NEAR(assigned_behind(false, seen, 0, alone), mean(last).item(), 1e-6);
  const std::string own =
      testing_support::error_of([&] { return assigned_behind(false, seen, 4, alone); });
  EXPECT_NE(own.find("in some passes of a training step and not in the others"), std::string::npos)
      << own;
}

/// Passes of one microbatch do not know that a value is of their samples; the ranks find out.
TEST(Buffers, that_ranks_assign_unlike_behind_a_step_are_noticed) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    return assigned_behind(
        false, [](const Tensor& x) { return mean(x); }, at_once, wrap);
  };
  const std::string error =
      testing_support::error_of([&] { return train_on_ranks(train, kGrain, 2, 1); });
  EXPECT_NE(error.find("value assigned to heat"), std::string::npos) << error;
}

}  // namespace
}  // namespace tessera::dist
