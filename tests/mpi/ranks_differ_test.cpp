// Between processes: models that change alike have the bits of one process, others are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/changing_model.h"
#include "world.h"

namespace tessera::dist {
namespace {

using changing::Script;
using changing::Training;

TEST(DataParallelOverMpi, follows_what_is_frozen_unfrozen_and_replaced) {
  Script script;
  script.prepare = [](changing::Model& model) { model.body->requires_grad_(false); };
  script.change = [](std::int64_t step, Training& t) {
    t.model->table->requires_grad_(step != 3);
    if (step == 2) {
      t.model->body->requires_grad_(true);
    } else if (step == 4) {
      t.model->set_submodule("body", nn::make<nn::Linear>(changing::kWidth, changing::kWidth));
      dynamic_cast<optim::AdamW&>(*t.optimizers[0]).add_group(t.model->body->parameters(), {});
    }
  };
  EXPECT_EQ(changing::train(test_world().communicator().get(), script),
            changing::train_alone(script));
}

/// Every rank gets the same sentence, and the world goes on.
void expect_refused(const Script& script, const std::string& word) {
  if (test_world().size() == 1) {
    return;
  }
  try {
    changing::train(test_world().communicator().get(), script);
    ADD_FAILURE() << "no exception";
  } catch (const Disagreement& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 0 has " + word));
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 1 has " + word));
  }
}

TEST(RanksDifferOverMpi, is_an_error_on_all_of_them) {
  const bool odd = test_world().rank() == 1;
  Script script;
  script.change = [odd](std::int64_t step, Training& t) {
    t.optimizers[0]->set_lr(odd && step == 2 ? 0.02 : 0.01);
  };
  expect_refused(script, "lr of group 0");
  script.change = [odd](std::int64_t step, Training& t) {
    t.model->body->requires_grad_(!(odd && step == 2));
  };
  expect_refused(script, "body.weight");
  script.change = [odd](std::int64_t step, Training& t) {
    if (step == 2) {
      set_seed(odd ? 1 : 2);
      t.model->set_submodule("body", nn::make<nn::Linear>(changing::kWidth, changing::kWidth));
    }
  };
  expect_refused(script, "body.weight");
}

TEST(RanksDifferOverMpi, forgotten_data_parallel_is_refused) {
  if (test_world().size() > 1) {
    EXPECT_THROW(changing::train(nullptr, {}), InvalidArgument);
  }
}

}  // namespace
}  // namespace tessera::dist
