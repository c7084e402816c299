// Freezing, unfreezing and replacing parts of a model while ranks train it: the bits of one
// process.
#include <gtest/gtest.h>

#include <atomic>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/sgd.h>

#include "support/changing_model.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using changing::Model;
using changing::Optimizers;
using changing::Script;
using changing::Training;
using testing_support::Values;

void expect_bits_of_one_process(const Script& script, const std::string& what) {
  const Values expected = changing::train_alone(script);
  for (const int ranks : {1, 2, 4}) {
    std::vector<Values> values(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](Communicator& comm) {
      values[static_cast<std::size_t>(comm.rank())] = changing::train(&comm, script);
    });
    for (const Values& of_rank : values) {
      EXPECT_EQ(of_rank, expected) << what << ", " << ranks << " ranks";
    }
  }
}

void replace_body(Training& training) {
  training.model->set_submodule("body", nn::make<nn::Linear>(changing::kWidth, changing::kWidth));
  auto& first = dynamic_cast<optim::AdamW&>(*training.optimizers[0]);
  first.add_group(training.model->body->parameters(), {.lr = 0.02});
}

void replace_tensor(Training& training) {
  const nn::SlotPtr& slot = training.model->body->weight.slot();
  slot->put(slot->value.detach() * 2);
}

/// Every kind of change, by the number of the step before which it happens.
struct Change {
  const char* name;
  std::function<void(Training&)> make;
  std::function<void(Training&)> undo;  ///< two steps later
};

std::vector<Change> every_change() {
  const auto nothing = [](Training&) {};
  return {
      {"freeze a module", [](Training& t) { t.model->body->requires_grad_(false); },
       [](Training& t) { t.model->body->requires_grad_(true); }},
      {"freeze the tied table", [](Training& t) { t.model->table->requires_grad_(false); },
       [](Training& t) { t.model->head->requires_grad_(true); }},
      {"freeze all but a norm",
       [](Training& t) {
         t.model->requires_grad_(false);
         t.model->norm->requires_grad_(true);
       },
       [](Training& t) { t.model->requires_grad_(true); }},
      {"replace a module", replace_body, replace_body},
      {"replace a tensor", replace_tensor, replace_tensor},
      {"write to weights", [](Training& t) { mul_(t.model->body->weight.value().detach(), 0.5); },
       nothing},
      {"untie the head",
       [](Training& t) {
         t.model->set_submodule("head", nn::make<nn::Linear>(changing::kWidth, changing::kVocab,
                                                             nn::LinearOptions{.bias = false}));
       },
       [](Training& t) { t.model->head->weight.tie(t.model->table->weight); }},
      {"a part leaves and comes back",
       [](Training& t) {
         t.aside = t.model->body.ptr();
         replace_body(t);
       },
       [](Training& t) { t.model->set_submodule("body", t.aside); }},
  };
}

TEST(ChangingModel, has_the_bits_of_one_process) {
  for (const Change& change : every_change()) {
    for (const std::int64_t at : {1, 3}) {
      for (const std::int64_t at_once : {0, 1}) {
        Script script;
        script.at_once = at_once;
        script.change = [&](std::int64_t step, Training& training) {
          if (step == at) {
            change.make(training);
          } else if (step == at + 2) {
            change.undo(training);
          }
        };
        expect_bits_of_one_process(script, tessera::detail::concat(change.name, " before step ", at,
                                                                   ", at once ", at_once));
      }
    }
  }
}

TEST(ChangingModel, may_begin_frozen) {
  Script script;
  script.prepare = [](Model& model) {
    model.requires_grad_(false);
    model.norm->requires_grad_(true);
  };
  script.change = [](std::int64_t step, Training& training) {
    if (step == 2) {
      training.model->requires_grad_(true);
    }
  };
  expect_bits_of_one_process(script, "all but a norm frozen");
}

TEST(ChangingModel, keeps_the_state_of_every_optimizer) {
  const std::vector<std::function<Optimizers(const Model&)>> kinds{
      [](const Model& model) {
        Optimizers made;
        made.push_back(std::make_unique<optim::SGD>(model.parameters(),
                                                    optim::SGDOptions{.lr = 0.1, .momentum = 0.9}));
        return made;
      },
      [](const Model& model) {
        Optimizers made;
        made.push_back(std::make_unique<optim::Adafactor>(model.parameters(),
                                                          optim::AdafactorOptions{.lr = 0.1}));
        return made;
      },
      [](const Model& model) {
        Optimizers made;
        made.push_back(std::make_unique<optim::Muon>(
            std::vector<nn::Parameter>{model.table->weight, model.body->weight},
            optim::MuonOptions{.lr = 0.1}));
        made.push_back(std::make_unique<optim::AdamW>(
            std::vector<nn::Parameter>{model.body->bias, model.norm->weight, model.norm->bias}));
        return made;
      }};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Script script;
    script.optimizers = kinds[kind];
    script.change = [](std::int64_t step, Training& training) {
      if (step == 2) {  // a new parameter moves all others
        training.model->register_parameter("extra", ones({70'000}));
      }
      training.model->body->requires_grad_(step != 3);
    };
    expect_bits_of_one_process(script, tessera::detail::concat("optimizers ", kind));
  }
}

TEST(ChangingModel, gradient_hooks_from_before_run) {
  Script script;
  std::atomic<int> ready{0};
  script.prepare = [&](Model& model) {
    register_gradient_hook(model.body->weight.value(), [](const Tensor& g) { return g * 2; });
    register_ready_hook(model.body->weight.value(), [&](LeafNode&) { ++ready; });
  };
  expect_bits_of_one_process(script, "hooks");
  EXPECT_EQ(ready, 6 * (1 + 1 + 2 + 4));
  Script plain;
  EXPECT_NE(changing::train_alone(script), changing::train_alone(plain));
}

TEST(ChangingModel, may_not_change_between_two_passes_of_a_step) {
  run_ranks(2, [](Communicator& comm) {
    Script script;
    script.at_once = 1;
    std::int64_t passes = 0;
    script.optimizers = [&](const Model& model) {
      Optimizers made;
      made.push_back(std::make_unique<optim::AdamW>(model.parameters()));
      const auto freeze = [&passes, body = model.body.ptr()](LeafNode&) {
        body->requires_grad_(++passes < 2);
      };
      register_ready_hook(model.norm->weight.value(), freeze);
      return made;
    };
    try {
      changing::train(&comm, script);
      ADD_FAILURE() << "no exception";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("between two passes"), std::string::npos)
          << error.what();
    }
  });
}

}  // namespace
}  // namespace tessera::dist
