// What a checkpoint holds is the model's state dict: what hooks make of it, under all its names.
#include <gtest/gtest.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/transpose.h>

#include "dist/checkpoint/token_model.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

/// What hooks on the state dict add is saved, and what they take is given to them.
TEST(StateDictOfCheckpoint, hooks_on_the_state_dict_see_what_is_saved_and_restored) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  for (const bool restores : {false, true}) {
    const auto model = nn::make<TokenModel>();
    float taken = 0;
    const auto added = model->register_state_dict_post_hook(
        [&](nn::Module&, nn::StateDict& state, std::string_view prefix, nn::Metadata&) {
          state.set(std::string(prefix) + "scale", full({1}, restores ? 0 : 4));
        });
    const auto took =
        model->register_load_state_dict_pre_hook([&](nn::Module&, nn::LoadContext& load) {
          taken = load.state.tensor(load.prefix + "scale").to_vector<float>()[0];
          load.state.erase(load.prefix + "scale");
        });
    Alone alone(model);
    if (restores) {
      alone.restore();
      EXPECT_EQ(taken, 4);
    } else {
      alone.save(1);
    }
  }
}

/// A hook may save a value in another form, and take it back from that.
TEST(StateDictOfCheckpoint, values_come_back_from_the_form_in_which_hooks_save_them) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Values expected;
  for (const bool restores : {false, true}) {
    const auto model = nn::make<TokenModel>();
    const auto turned = [](nn::StateDict& state, const std::string& name) {
      state.set(name, contiguous(transpose(state.tensor(name), 0, 1)));
    };
    const auto saves = model->register_state_dict_post_hook(
        [&](nn::Module&, nn::StateDict& state, std::string_view prefix, nn::Metadata&) {
          turned(state, std::string(prefix) + "head.weight");
        });
    const auto loads =
        model->register_load_state_dict_pre_hook([&](nn::Module&, nn::LoadContext& load) {
          turned(load.state, load.prefix + "head.weight");
        });
    Alone alone(model);
    if (restores) {
      alone.restore();
      EXPECT_EQ(values_of(*model), expected);
    } else {
      alone.save(1);
      expected = values_of(*model);
    }
  }
}

/// Two names of one slot, and of one module with extra state.
struct Shared : nn::Module {
  nn::Child<Counter> first{this, "first"};
  nn::Child<nn::Linear> one{this, "one", 3, 3};
  nn::Child<nn::Linear> other{this, "other", 3, 3};
  Shared() {
    add_module("again", first.ptr());
    other->weight.tie(one->weight);
  }
};

TEST(StateDictOfCheckpoint, what_has_two_names_is_restored_under_both) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  Values expected;
  for (const bool restores : {false, true}) {
    const auto comm = make_loopback(1).front();
    const auto model = nn::make<Shared>();
    optim::AdamW optimizer(model->parameters(), {});
    data::DataLoader loader(data::TokenWindows(text(), {.context = 6, .vocab = kVocab}),
                            {.batch_size = 8});
    const TrainingRun run{*model, optimizer, loader, {}};
    if (restores) {
      TrainingCheckpoint("run", std::nullopt, *comm).restore(run);
      EXPECT_EQ(model->first->seen, 5);
      EXPECT_EQ(values_of(*model), expected);
      EXPECT_TRUE(model->one->weight.slot() == model->other->weight.slot());
    } else {
      model->first->seen = 5;
      expected = values_of(*model);
      EXPECT_EQ(save_training("run", 1, run, *comm), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace tessera::dist
