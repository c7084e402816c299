// A run that is saved and restored on other ranks goes on with the same bits; what cannot be
// restored changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/checkpoint/training_state.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/token_windows.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adamw.h>

#include "dist/checkpoint/token_model.h"
#include "dist/text.h"
#include "support/error_of.h"
#include "support/guarded_device.h"
#include "support/simulated_file_system.h"
#include "support/temporary_folder.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::error_of;
using testing_support::Values;
using testing_support::values_of;

/// Where a run begins and ends.
struct Stretch {
  std::int64_t steps = 0;  ///< in all
  bool resume = false;
  std::string folder;
  bool apart = false;           ///< each child of the model has a reducer of its own
  bool restored_first = false;  ///< before the model is made data parallel
  bool again = false;           ///< made data parallel anew, with other buckets, behind each step
};

using Reducers = std::vector<std::shared_ptr<GradientReducer>>;

Reducers reducers_of(TokenModel& model, Communicator& comm, const Stretch& stretch,
                     std::int64_t grain, std::size_t bucket = 0) {
  const std::shared_ptr<Communicator> ranks(&comm, [](Communicator*) {});
  Reducers reducers;
  if (!stretch.apart) {
    reducers.push_back(data_parallel(model, ranks, {.grain = grain, .buckets = {.bytes = bucket}}));
    return reducers;
  }
  for (const auto& [name, child] : model.named_children()) {
    reducers.push_back(data_parallel(*child, ranks, {.grain = grain}));
  }
  return reducers;
}

template <class Kind>
Values train_stretch(Communicator& comm, const Stretch& stretch) {
  set_seed(11);
  Context::current().rank = comm.rank();
  Context::current().world_size = comm.size();
  const auto model = nn::make<TokenModel>();
  data::DataLoader loader(
      data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
      {.batch_size = 8, .shuffle = true, .join_epochs = true, .steps = stretch.steps, .grain = 4});
  Reducers reducers;
  if (!stretch.restored_first) {
    reducers = reducers_of(*model, comm, stretch, loader.grain());
  }
  Kind optimizer(model->parameters(), {.lr = 0.1});
  const TrainingRun run{*model, optimizer, loader, {}};
  if (stretch.resume) {
    TrainingCheckpoint(stretch.folder, std::nullopt, comm).restore(run);
  }
  if (stretch.restored_first) {
    reducers = reducers_of(*model, comm, stretch, loader.grain());
  }
  for (auto& [x, y] : loader) {
    model(x, y).backward();
    if (optimizer.step().ended && stretch.again) {
      const std::size_t bucket = std::size_t{64} << (2 * Context::current().step);
      reducers = reducers_of(*model, comm, stretch, loader.grain(), bucket);
    }
  }
  EXPECT_EQ(save_training(stretch.folder, stretch.steps, run, comm), std::nullopt);
  return values_of(*model);
}

template <class Kind>
Values train_on(int ranks, const Stretch& stretch) {
  Values of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    const Values weights = train_stretch<Kind>(comm, stretch);
    if (comm.rank() == ranks - 1) {
      of_last_rank = weights;
    }
  });
  return of_last_rank;
}

template <class Kind>
void expect_resumes_on_any_ranks() {
  const testing_support::TemporaryFolder whole;
  const Values expected = train_on<Kind>(1, {.steps = 4, .folder = whole.path()});
  for (const int before : {1, 2}) {
    for (const int after : {1, 2, 4}) {
      const testing_support::TemporaryFolder folder;
      EXPECT_NE(train_on<Kind>(before, {.steps = 2, .folder = folder.path()}), expected);
      EXPECT_EQ(train_on<Kind>(after, {.steps = 4, .resume = true, .folder = folder.path()}),
                expected)
          << before << " ranks, then " << after;
    }
  }
}

TEST(TrainingState, goes_on_with_the_same_bits_on_other_ranks) {
  expect_resumes_on_any_ranks<optim::AdamW>();
  expect_resumes_on_any_ranks<optim::Adafactor>();  // whose states are smaller than parameters
}

/// From two steps on one rank over a third one on `ranks`, where who keeps the optimizer's state
/// changes, to the last one on one rank.
template <class Kind>
Values train_over(int ranks, Stretch between) {
  const testing_support::TemporaryFolder folder;
  static_cast<void>(train_on<Kind>(2, {.steps = 2, .folder = folder.path()}));
  between.steps = 3;
  between.resume = true;
  between.folder = folder.path();
  static_cast<void>(train_on<Kind>(ranks, between));
  return train_on<Kind>(1, {.steps = 4, .resume = true, .folder = folder.path()});
}

template <class Kind>
void expect_states_find_their_keepers() {
  const testing_support::TemporaryFolder whole;
  const Values expected = train_on<Kind>(1, {.steps = 4, .folder = whole.path()});
  for (const int ranks : {1, 2, 3, 4}) {
    EXPECT_EQ(train_over<Kind>(ranks, {.restored_first = true}), expected) << ranks << " ranks";
    EXPECT_EQ(train_over<Kind>(ranks, {.again = true}), expected) << ranks << " ranks, again";
    const testing_support::TemporaryFolder folder;
    EXPECT_EQ(train_on<Kind>(ranks, {.steps = 4, .folder = folder.path(), .again = true}),
              expected);
  }
}

TEST(TrainingState, is_saved_whole_whoever_kept_it_before) {
  expect_states_find_their_keepers<optim::AdamW>();
  expect_states_find_their_keepers<optim::Adafactor>();
}

TEST(TrainingState, of_models_that_are_reduced_apart_is_saved_whole) {
  const testing_support::TemporaryFolder whole;
  const Values expected =
      train_on<optim::AdamW>(1, {.steps = 4, .folder = whole.path(), .apart = true});
  for (const int ranks : {2, 3}) {
    const testing_support::TemporaryFolder folder;
    train_on<optim::AdamW>(ranks, {.steps = 2, .folder = folder.path(), .apart = true});
    EXPECT_EQ(train_on<optim::AdamW>(
                  1, {.steps = 4, .resume = true, .folder = folder.path(), .apart = true}),
              expected)
        << ranks << " ranks";
  }
}

/// As `train_stretch`, of one process whose model lies on `device`.
Values train_alone(const Device& device, const Stretch& stretch) {
  const auto comm = make_loopback(1).front();
  set_seed(11);
  const auto model = nn::make<TokenModel>();
  model->to(device);
  data::DataLoader loader(
      data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
      {.batch_size = 8, .shuffle = true, .join_epochs = true, .steps = stretch.steps, .grain = 4});
  optim::AdamW optimizer(model->parameters(), {.lr = 0.1});
  const TrainingRun run{*model, optimizer, loader, {}};
  if (stretch.resume) {
    TrainingCheckpoint(stretch.folder, std::nullopt, *comm).restore(run);
  }
  for (auto& [x, y] : loader) {
    model(on_device(x, device), on_device(y, device)).backward();
    optimizer.step();
  }
  EXPECT_EQ(save_training(stretch.folder, stretch.steps, run, *comm), std::nullopt);
  return values_of(*model);
}

TEST(TrainingState, goes_on_with_the_same_bits_on_another_device) {
  const testing_support::TemporaryFolder whole;
  const Device there = test::guarded_device();
  const Values expected = train_alone(Device{}, {.steps = 4, .folder = whole.path()});
  for (const std::uint64_t order : test::orders(5, 2)) {
    for (const auto& [before, after] : {std::pair{there, Device{}}, std::pair{Device{}, there}}) {
      test::GuardedRun guarded(order);
      {
        const testing_support::TemporaryFolder folder;
        static_cast<void>(train_alone(before, {.steps = 2, .folder = folder.path()}));
        EXPECT_EQ(train_alone(after, {.steps = 4, .resume = true, .folder = folder.path()}),
                  expected)
            << before << ", then " << after << ", order " << order;
      }
      EXPECT_EQ(guarded.reports(), std::vector<std::string>{}) << "order " << order;
    }
  }
}

TEST(TrainingState, is_not_saved_between_a_backward_and_its_step) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Alone alone(nn::make<TokenModel>());
  alone.save(1);
  const nn::Parameter first = alone.model->parameters()[0];
  first.value().set_grad(ones(first.shape()));
  EXPECT_THAT(error_of<RuntimeError>([&] { alone.save(2); }),
              testing::HasSubstr("has a gradient that no step has used"));
  alone.optimizer.zero_grad();
  alone.save(3);
}

TEST(TrainingState, names_file_and_tensor_of_another_model_and_changes_nothing) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Alone(nn::make<TokenModel>()).save(3);
  const auto refused = [](const nn::Ptr<TokenModel>& model) {
    Alone other(model);
    const std::vector<float> before = model->embed->weight.value().to_vector<float>();
    const std::string error = error_of<InvalidArgument>([&] { other.restore(); });
    EXPECT_EQ(model->embed->weight.value().to_vector<float>(), before);
    return error;
  };
  EXPECT_EQ(refused(nn::make<TokenModel>(12)),
            "run/step-3/index.h5: model/embed.weight is of another model; got (32, 8), expected "
            "(32, 12)");
  EXPECT_EQ(refused(nn::make<TokenModel>(8, false)),
            "run/step-3/index.h5: model/head.bias is not in the model");
  Alone(nn::make<TokenModel>(8, false)).save(4);
  EXPECT_EQ(refused(nn::make<TokenModel>()),
            "run/step-4/index.h5: no model/head.bias: the checkpoint is of another model");
}

TEST(TrainingState, restores_into_any_layout_and_no_other_dtype) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto saved = nn::make<TokenModel>();
  Alone(saved).save(3);
  const auto strided = nn::make<TokenModel>();
  const nn::SlotPtr& weight = strided->head->weight.slot();
  weight->put(transpose(cast(transpose(weight->value.detach()), DType::f32, true)));
  ASSERT_FALSE(weight->value.get().contiguous());
  Alone(strided).restore();
  EXPECT_EQ(weight->value.to_vector<float>(), saved->head->weight.value().to_vector<float>());
  weight->put(expand(zeros({1, 8}), {kVocab, 8}).detach());
  EXPECT_THAT(error_of<InvalidArgument>([&] { Alone(strided).restore(); }),
              testing::HasSubstr("\"head.weight\": several of its elements share memory"));
  const auto other = nn::make<TokenModel>();
  other->to(DType::f64);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Alone(other).restore(); }),
              testing::HasSubstr("model/embed.weight has another dtype in the model; got f32, "
                                 "expected f64"));
}

TEST(TrainingState, changes_nothing_where_the_optimizers_state_does_not_fit) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Alone(nn::make<TokenModel>()).save(3);
  Alone other(nn::make<TokenModel>());
  other.optimizer = optim::AdamW({other.model->head->weight});
  other.optimizer.add_group({other.model->embed->weight}, {});
  const std::vector<float> before = other.model->embed->weight.value().to_vector<float>();
  EXPECT_THAT(error_of<InvalidArgument>([&] { other.restore(); }),
              testing::HasSubstr("no number named group.1.lr"));
  EXPECT_EQ(other.model->embed->weight.value().to_vector<float>(), before);
}

TEST(TrainingState, names_the_newest_whole_step_wherever_it_is) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Alone alone(nn::make<TokenModel>());
  for (const std::int64_t step : {1, 2, 3}) {
    alone.save(step);
  }
  const auto refused = [&](std::optional<std::int64_t> step) {
    return error_of<IoError>([&] { alone.restore(step); });
  };
  files.damage("run/step-1/index.h5", 8192, 1);
  EXPECT_THAT(refused(1), testing::EndsWith("; the newest whole step is 3"));
  files.damage("run/step-3/index.h5", 8192, 1);
  EXPECT_THAT(refused({}), testing::EndsWith("; the newest whole step is 2"));
  files.damage("run/step-2/index.h5", 8192, 1);
  EXPECT_THAT(refused(2), testing::EndsWith("; no step is whole"));
}

struct WithCounters : TokenModel, nn::HasExtraState {
  nn::Child<Counter> first{this, "first"};
  nn::Child<Counter> second{this, "second"};
  double own = 0;
  [[nodiscard]] nn::Value get_extra_state() const override { return own; }
  void set_extra_state(const nn::Value& state) override { own = state.get<double>(); }
};

TEST(TrainingState, extra_state_of_every_module_is_saved_and_restored_on_all_ranks) {
  const testing_support::TemporaryFolder folder;
  for (const int ranks : {1, 2, 4}) {
    for (const bool restores : {false, true}) {
      run_ranks(ranks, [&](Communicator& comm) {
        const auto model = nn::make<WithCounters>();
        optim::AdamW optimizer(model->parameters(), {});
        data::DataLoader loader(data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
                                {.batch_size = 8, .join_epochs = true, .grain = 4});
        const TrainingRun run{*model, optimizer, loader, {}};
        if (!restores) {
          model->own = 0.5;
          model->first->seen = 7;
          model->second->table = full({2}, 3.0);
          EXPECT_EQ(save_training(folder.path(), ranks, run, comm), std::nullopt);
          return;
        }
        TrainingCheckpoint(folder.path(), ranks, comm).restore(run);
        EXPECT_EQ(model->own, 0.5);
        EXPECT_EQ(model->first->seen, 7);
        EXPECT_EQ(model->second->seen, 0);
        EXPECT_EQ(model->second->table.to_vector<float>(), (std::vector<float>{3, 3}));
      });
    }
  }
}

struct Refusing : TokenModel, nn::HasExtraState {
  bool refuses = false;
  [[nodiscard]] nn::Value get_extra_state() const override { return 1.0; }
  void set_extra_state(const nn::Value&) override { check(!refuses, "Refusing: no"); }
};

TEST(TrainingState, leaves_optimizer_and_loader_where_a_hook_of_the_model_refuses) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = nn::make<Refusing>();
  Alone run(model);
  const Tensor ids = full({2, 6}, 1, {.dtype = DType::i64});
  model(ids, ids).backward();
  run.optimizer.step();
  run.save(3);
  model(ids, ids).backward();
  run.optimizer.step();
  const std::vector<float> before = run.optimizer.state().tensors.front().second.to_vector<float>();
  model->refuses = true;
  EXPECT_EQ(error_of<InvalidArgument>([&] { run.restore(); }), "Refusing: no");
  EXPECT_EQ(run.optimizer.steps(), 2);
  EXPECT_EQ(run.optimizer.state().tensors.front().second.to_vector<float>(), before);
  model->refuses = false;
  run.restore();
  EXPECT_EQ(run.optimizer.steps(), 1);
  EXPECT_NE(run.optimizer.state().tensors.front().second.to_vector<float>(), before);
}

struct OfItsOwnKind : TokenModel, nn::HasExtraState {
  [[nodiscard]] nn::Value get_extra_state() const override {
    return nn::Value::Map{{"notes", nn::Value(nn::Value::Object{7})}};
  }
  void set_extra_state(const nn::Value&) override {}
};

TEST(TrainingState, extra_state_that_cannot_be_saved_is_named) {
  const testing_support::TemporaryFolder folder;
  run_ranks(1, [&](Communicator& comm) {
    const auto model = nn::make<OfItsOwnKind>();
    optim::AdamW optimizer(model->parameters(), {});
    data::DataLoader loader(data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
                            {.batch_size = 8, .join_epochs = true, .grain = 4});
    EXPECT_EQ(save_training(folder.path(), 1, {*model, optimizer, loader, {}}, comm),
              "save: \"_extra_state\": to_bytes: \"notes\": an object cannot be written");
  });
}

}  // namespace
}  // namespace tessera::dist
