// One rank whose optimizer does something else: an error on all ranks before an update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

#include "support/difference.h"

namespace tessera::dist {
namespace {

using changing::Difference;
using changing::expect_refused;
using changing::in_model;
using changing::Model;
using changing::Optimizers;
using changing::Outcome;
using changing::run_rank;
using changing::Training;
using testing::HasSubstr;

/// Another value of an option that can be meant; of a flag, the other one.
double other_value(const std::string& name, double x) {
  if (x == 0 || x == optim::kEpsOfDType) {
    return name.ends_with("_fn") ? 1 : 0.5;
  }
  if (x == 1) {
    return name.ends_with(".d") ? 2 : 0;  // Adafactor's is at least 1
  }
  return x / 2;
}

template <class Kind>
std::unique_ptr<optim::Optimizer> make_optimizer(const Model& model) {
  if constexpr (std::is_same_v<Kind, optim::Muon>) {
    return std::make_unique<Kind>(std::vector<nn::Parameter>{model.table->weight});
  } else if constexpr (std::is_same_v<Kind, optim::SGD>) {  // Nesterov's needs a momentum
    return std::make_unique<Kind>(model.parameters(), optim::SGDOptions{.momentum = 0.9});
  } else {
    return std::make_unique<Kind>(model.parameters());
  }
}

/// A difference for each option of an optimizer.
template <class Kind>
void differ_in_every_option(std::vector<Difference>& differences) {
  set_seed(11);
  const auto numbers = make_optimizer<Kind>(*nn::make<Model>())->state().numbers;
  for (const auto& [name, value] : numbers) {
    if (!name.starts_with("group.0.")) {
      continue;
    }
    Difference difference{.name = tessera::detail::concat(typeid(Kind).name(), ' ', name),
                          .words = {name.substr(8) + " of group 0"}};
    difference.optimizers = [name = name](const Model& model) {
      Optimizers made;
      made.push_back(make_optimizer<Kind>(model));
      optim::OptimizerState state{.tensors = {}, .numbers = made[0]->state().numbers};
      for (auto& [known, number] : state.numbers) {
        number = known == name ? other_value(name, number) : number;
      }
      made[0]->load_state(state);
      return made;
    };
    differences.push_back(difference);
  }
}

/// The other ranks use a plain optimizer of the same kind.
template <class Kind>
void expect_options_refused() {
  std::vector<Difference> differences;
  differ_in_every_option<Kind>(differences);
  ASSERT_GE(differences.size(), 2U);
  const auto plain = [](const Model& model) {
    Optimizers made;
    made.push_back(make_optimizer<Kind>(model));
    return made;
  };
  for (const Difference& difference : differences) {
    SCOPED_TRACE(difference.name);
    std::vector<std::string> errors(2);
    run_ranks(2, [&](Communicator& comm) {
      Difference mine;
      mine.optimizers = comm.rank() == 1 ? difference.optimizers : plain;
      const Outcome outcome = run_rank(comm, mine);
      EXPECT_EQ(outcome.before, outcome.after);
      errors[static_cast<std::size_t>(comm.rank())] = outcome.error;
    });
    EXPECT_EQ(errors[0], errors[1]);
    EXPECT_THAT(errors[0], HasSubstr("rank 1 has " + difference.words[0]));
  }
}

TEST(OptimizersDiffer, in_any_option_of_any_optimizer) {
  expect_options_refused<optim::Adam>();
  expect_options_refused<optim::AdamW>();
  expect_options_refused<optim::SGD>();
  expect_options_refused<optim::Adagrad>();
  expect_options_refused<optim::RMSprop>();
  expect_options_refused<optim::Lion>();
  expect_options_refused<optim::Adafactor>();
  expect_options_refused<optim::Muon>();
}

Difference in_optimizer(const std::string& name, std::vector<std::string> words,
                        std::function<void(Training&)> change) {
  return in_model(name, std::move(words), std::move(change));
}

TEST(OptimizersDiffer, in_what_the_optimizer_does) {
  Difference other_class{.name = "class", .words = {"AdamW", "Lion"}};
  other_class.optimizers = [](const Model& model) {
    Optimizers made;
    made.push_back(std::make_unique<optim::Lion>(model.parameters()));
    return made;
  };
  Difference part{.name = "a part of the parameters", .words = {"table.weight"}};
  part.optimizers = [](const Model& model) {
    Optimizers made;
    made.push_back(std::make_unique<optim::AdamW>(
        model.body->parameters(), optim::AdamWOptions{.lr = 0.01, .weight_decay = 0.1}));
    return made;
  };
  Difference order{.name = "another order", .words = {"table.weight", "norm.bias"}};
  order.optimizers = [](const Model& model) {
    std::vector<nn::Parameter> parameters = model.parameters();
    std::ranges::reverse(parameters);
    Optimizers made;
    made.push_back(std::make_unique<optim::AdamW>(
        parameters, optim::AdamWOptions{.lr = 0.01, .weight_decay = 0.1}));
    return made;
  };
  expect_refused({
      other_class,
      part,
      order,
      in_optimizer("learning rate", {"lr of group 0 = 0.01", "lr of group 0 = 0.02"},
                   [](Training& t) { t.optimizers[0]->set_lr(0.02); }),
      in_optimizer("last bit of the learning rate", {"lr of group 0 = 0.010000000000000002"},
                   [](Training& t) { t.optimizers[0]->set_lr(std::nextafter(0.01, 1)); }),
      in_optimizer("clipping", {"clip_grad_norm = 0", "clip_grad_norm = 2.5"},
                   [](Training& t) { t.optimizers[0]->clip_grad_norm(2.5); }),
      in_optimizer("what is not finite", {"on_non_finite = stop", "on_non_finite = skip"},
                   [](Training& t) { t.optimizers[0]->on_non_finite(optim::NonFinite::skip); }),
      in_optimizer("updates made", {"steps = 2", "steps = 3"},
                   [](Training& t) {
                     optim::OptimizerState state = t.optimizers[0]->own_state();
                     state.numbers[0].second += 1;
                     t.optimizers[0]->load_state(state);
                   }),
      in_optimizer("momentum", {"beta1 of group 0"},
                   [](Training& t) { t.optimizers[0]->set_momentum(0.5); }),
  });
}

TEST(OptimizersDiffer, in_gradients_that_were_dropped) {
  run_ranks(2, [](Communicator& comm) {
    set_seed(11);
    const auto model = nn::make<Model>();
    data::DataLoader loader(changing::samples(), changing::loader_options());
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
    optim::AdamW optimizer(model->parameters());
    try {
      for (auto& [x, y] : loader) {
        model(x, y).backward();
        if (comm.rank() == 1) {
          model->body->zero_grad();
        }
        optimizer.step();
      }
      ADD_FAILURE() << "no exception";
    } catch (const Disagreement& error) {
      EXPECT_THAT(error.what(), HasSubstr("body.weight = group 0, 0 updates, no gradient"));
    }
  });
}

}  // namespace
}  // namespace tessera::dist
