// One rank that trains something else than the others: an error on all ranks before an update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/modes.h>

#include "support/difference.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using changing::Difference;
using changing::expect_refused;
using changing::in_model;
using changing::kStep;
using changing::Model;
using changing::Training;
using testing::HasSubstr;
using testing_support::Values;
using testing_support::values_of;

Difference in_loader(const std::string& name, std::vector<std::string> words,
                     std::function<void(data::LoaderOptions&)> change) {
  Difference difference{.name = name, .words = std::move(words)};
  difference.loader = std::move(change);
  return difference;
}

Difference in_data(const std::string& name, std::vector<std::string> words,
                   std::function<data::TensorDataset<2>()> samples) {
  Difference difference{.name = name, .words = std::move(words)};
  difference.samples = std::move(samples);
  return difference;
}

TEST(RanksDiffer, in_what_they_load) {
  using Options = data::LoaderOptions;
  expect_refused({
      in_loader("batch size", {"batch size of the loader = 16", "= 32"},
                [](Options& o) { o.batch_size = 32; }),
      in_loader("grain", {"grain of the loader = 8", "= 16"}, [](Options& o) { o.grain = 16; }),
      in_loader("seed", {"seed of the loader = 11", "= 12"}, [](Options& o) { o.seed = 12; }),
      in_loader("order", {"order of the data = shuffled", "= sequential"},
                [](Options& o) { o.shuffle = false; }),
      in_loader("epochs", {"order of the data"},
                [](Options& o) {
                  o.join_epochs = false;
                  o.drop_last = true;
                }),
      in_loader("share", {"ranks of the loader"},
                [](Options& o) {
                  o.rank = 0;
                  o.ranks = 1;
                }),
      in_data("size", {"samples of the data = 60", "= 61"}, [] { return changing::samples(61); }),
      in_data("values", {"hash of a few samples of the data"},
              [] {
                const data::TensorDataset<2> plain = changing::samples();
                const auto& [x, y] = plain.tensors();
                return data::TensorDataset(x, y + 1);
              }),
  });
}

TEST(RanksDiffer, in_the_place_in_the_data) {
  const auto run = [](int odd) {
    run_ranks(2, [&](Communicator& comm) {
      set_seed(11);
      const auto model = nn::make<Model>();
      data::DataLoader loader(changing::samples(), changing::loader_options());
      const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
      bool skip = comm.rank() == odd;
      for (auto& [x, y] : loader) {
        if (!std::exchange(skip, false)) {
          model(x, y).backward();
        }
      }
    });
  };
  for (const int odd : {0, 1}) {
    try {
      run(odd);
      ADD_FAILURE() << "no exception";
    } catch (const Disagreement& error) {
      EXPECT_THAT(error.what(), HasSubstr("batches before this one = 0"));
      EXPECT_THAT(error.what(), HasSubstr("batches before this one = 1"));
    }
  }
}

TEST(RanksDiffer, in_the_length_that_they_pad_to) {
  const auto length = [](int rank, std::size_t samples) { return 3 + (samples > 1 ? rank : 0); };
  std::string text;
  const auto body = [&](Communicator& comm) {
    set_seed(11);
    const auto model = nn::make<nn::Linear>(2, 2);
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    const auto pad = [&](const std::vector<std::array<Tensor, 1>>& samples) {
      return std::array{ones({std::ssize(samples), length(comm.rank(), samples.size()), 2})};
    };
    data::DataLoader loader(data::TensorDataset{ones({4, 2})}, {.batch_size = 4, .grain = 2}, pad);
    for (auto& [x] : loader) {
      mean(model(x)).backward();
    }
  };
  try {
    run_ranks(2, body);
  } catch (const Disagreement& error) {
    text = error.what();
  }
  EXPECT_THAT(text,
              HasSubstr("sizes of samples (pad all to one length, or use at_once = 1) = (3, 2)"));
}

TEST(RanksDiffer, in_what_they_train) {
  expect_refused({
      in_model("frozen", {"body.weight", "trained", "frozen"},
               [](Training& t) { t.model->body->requires_grad_(false); }),
      in_model("all but one frozen", {"table.weight", "trained", "frozen"},
               [](Training& t) {
                 t.model->requires_grad_(false);
                 t.model->norm->requires_grad_(true);
               }),
      in_model("replaced by equal values", {"body.weight", "new"},
               [](Training& t) {
                 const auto body = nn::make<nn::Linear>(changing::kWidth, changing::kWidth);
                 body->load_state_dict(t.model->body->state_dict());
                 t.model->set_submodule("body", body);
               }),
      in_model("replaced by another shape", {"body.weight"},
               [](Training& t) {
                 t.model->set_submodule("body",
                                        nn::make<nn::Linear>(changing::kWidth, changing::kWidth,
                                                             nn::LinearOptions{.bias = false}));
               }),
      in_model("other tensor", {"body.weight", "new"},
               [](Training& t) {
                 const nn::SlotPtr& slot = t.model->body->weight.slot();
                 slot->put(slot->value.detach() * 2);
               }),
      in_model("other values", {"body.weight", "value hash"},
               [](Training& t) { mul_(t.model->body->weight.value().detach(), 2); }),
      in_model("loaded", {"table.weight", "value hash"},
               [](Training& t) {
                 set_seed(5);
                 t.model->load_state_dict(nn::make<Model>()->state_dict());
               }),
      in_model("another parameter", {"extra", "new"},
               [](Training& t) { t.model->register_parameter("extra", ones({3})); }),
      in_model("another buffer", {"extra", "new"},
               [](Training& t) { t.model->register_buffer("extra", ones({3})); }),
      in_model("mode", {"the mode of Model = training", "= evaluation"},
               [](Training& t) { t.model->eval(); }),
      in_model("mode of a part", {"the mode of body = training", "= evaluation"},
               [](Training& t) { t.model->body->eval(); }),
      in_model("seed", {"seed of random numbers = 11", "= 12"},
               [](Training&) { Context::current().seed = 12; }),
      in_model("untied", {"head.weight"},
               [](Training& t) {
                 t.model->set_submodule("head",
                                        nn::make<nn::Linear>(changing::kWidth, changing::kVocab,
                                                             nn::LinearOptions{.bias = false}));
               }),
  });
}

TEST(RanksDiffer, in_what_they_unfreeze) {
  for (const int odd : {0, 1}) {
    try {
      run_ranks(2, [&](Communicator& comm) {
        changing::Script script;
        script.prepare = [](Model& model) { model.body->requires_grad_(false); };
        script.change = [&](std::int64_t step, Training& t) {
          t.model->body->requires_grad_(step >= kStep && comm.rank() == odd);
        };
        changing::train(&comm, script);
      });
      ADD_FAILURE() << "no exception";
    } catch (const Disagreement& error) {
      EXPECT_THAT(error.what(), HasSubstr("body.weight"));
    }
  }
}

TEST(RanksDiffer, in_what_they_put_in_place_of_a_module) {
  try {
    run_ranks(2, [&](Communicator& comm) {
      changing::Script script;
      script.change = [&](std::int64_t step, Training& t) {
        if (step == kStep) {
          set_seed(static_cast<std::uint64_t>(comm.rank()));
          t.model->set_submodule("body", nn::make<nn::Linear>(changing::kWidth, changing::kWidth));
        }
      };
      changing::train(&comm, script);
    });
    FAIL() << "no exception";
  } catch (const Disagreement& error) {
    EXPECT_THAT(error.what(), HasSubstr("body.weight"));
    EXPECT_THAT(error.what(), HasSubstr("value hash"));
  }
}

TEST(RanksDiffer, equal_writes_and_forgetful_evaluation_are_fine) {
  run_ranks(2, [](Communicator& comm) {
    changing::Script script;
    script.change = [&](std::int64_t, Training& t) {
      mul_(t.model->body->weight.value().detach(), 0.5);
      if (comm.rank() == 0) {  // evaluates alone
        data::DataLoader other(changing::samples(30), {.batch_size = 10, .grain = 2});
        for (auto& [x, y] : other) {
          const NoGradGuard no_grad;
          static_cast<void>(t.model(x, y));
        }
      }
    };
    EXPECT_NO_THROW(changing::train(&comm, script));
  });
}

TEST(RanksDiffer, forgotten_data_parallel_is_refused_before_an_update) {
  for (const int ranks : {2, 4}) {
    run_ranks(ranks, [](Communicator&) {
      set_seed(11);
      const auto model = nn::make<Model>();
      const Values before = values_of(*model);
      data::DataLoader loader(changing::samples(), changing::loader_options());
      optim::AdamW optimizer(model->parameters());
      std::string text;
      try {
        for (auto& [x, y] : loader) {
          model(x, y).backward();
          optimizer.step();
        }
      } catch (const InvalidArgument& error) {
        text = error.what();
      }
      EXPECT_THAT(text, HasSubstr("table.weight"));
      EXPECT_THAT(text, HasSubstr("dist::data_parallel"));
      EXPECT_THAT(text, HasSubstr("independent"));
      EXPECT_EQ(values_of(*model), before);
    });
  }
}

TEST(RanksDiffer, a_gradient_hook_that_one_rank_set_before_is_refused) {
  run_ranks(2, [](Communicator& comm) {
    set_seed(11);
    const auto model = nn::make<Model>();
    if (comm.rank() == 1) {
      register_gradient_hook(model->parameters()[0].value(), [](const Tensor& g) { return g; });
    }
    try {
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
      ADD_FAILURE() << "no exception";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("with gradient hooks"));
    }
  });
}

TEST(RanksDiffer, a_gradient_from_before_is_refused) {
  run_ranks(2, [](Communicator& comm) {
    set_seed(11);
    const auto model = nn::make<Model>();
    const Tensor ids = arange(4);
    model(ids, ids).backward();
    try {
      data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
      ADD_FAILURE() << "no exception";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("table.weight"));
    }
    model->zero_grad();
    EXPECT_NO_THROW(data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8}));
  });
}

}  // namespace
}  // namespace tessera::dist
