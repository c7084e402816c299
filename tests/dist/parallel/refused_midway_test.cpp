// What is refused in the middle of a step of data parallel training, caught and tried again:
// nothing of the first try is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <vector>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/sub.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/parallel/step_agreement.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/sgd.h>

#include "dist/parallel/six_parameters.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"
#include "support/toy_model.h"

namespace tessera::dist {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using toy::Gradients;

struct HookThrew : std::exception {};

/// Two layers. Where it `throws`, so does a hook on the gradient of what lies between them: when
/// those of the second one are complete.
struct TwoStages : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kWidth, 6};
  nn::Child<nn::Linear> second{this, "second", 6, kWidth};
  bool throws = false;
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor between = tanh(first(x));
    if (throws) {
      register_gradient_hook(between, [](const Tensor&) -> Tensor { throw HookThrew(); });
    }
    return second(between);
  }
};

auto in_small_buckets(nn::Module& model, Communicator& comm) {
  return data_parallel(model, {&comm, [](Communicator*) {}},
                       {.grain = kGrain, .buckets = {.first_bytes = 32, .bytes = 64}});
}

/// Calls `body` in the only pass of a step, with this rank's samples.
void with_a_batch(const std::function<void(const Tensor& x)>& body) {
  data::DataLoader loader(data::TensorDataset{randn({16, kWidth})},
                          {.batch_size = 16, .workers = 0, .grain = kGrain});
  for (auto& [x] : loader) {
    body(x);
  }
}

/// The gradients behind two backwards. Where `rank_0_threw` is given, the second one throws at
/// first: on rank 1 when rank 0 is through with that, which has launched buckets by itself.
Gradients behind_two_backwards(Communicator& comm, std::promise<void>* rank_0_threw) {
  set_seed(7);
  const auto model = nn::make<TwoStages>();
  const auto reducer = in_small_buckets(*model, comm);
  Gradients after;
  with_a_batch([&](const Tensor& x) {
    square(model(x)).backward();
    if (rank_0_threw != nullptr) {
      const Gradients before = toy::gradients_of(*model);
      model->throws = true;
      const Tensor loss = square(model(x) - x);
      if (comm.rank() == 1) {
        const auto found = rank_0_threw->get_future().wait_for(std::chrono::seconds(20));
        EXPECT_TRUE(found == std::future_status::ready);
      }
      EXPECT_THROW(loss.backward(), HookThrew);
      if (comm.rank() == 0) {
        rank_0_threw->set_value();
      }
      EXPECT_EQ(toy::gradients_of(*model), before);
      model->throws = false;
    }
    square(model(x) - x).backward();
    after = toy::gradients_of(*model);
  });
  return after;
}

TEST(RefusedMidway, a_backward_gives_gradients_back_while_a_bucket_is_being_summed) {
  std::promise<void> rank_0_threw;
  run_ranks(2, [&](Communicator& comm) {
    const Gradients expected = behind_two_backwards(comm, nullptr);
    EXPECT_EQ(behind_two_backwards(comm, &rank_0_threw), expected);
  });
}

/// The gradients of `models` behind each of two backwards of `loss`. Where `refused`, another one
/// comes before each, in which a hook on `hooked` throws and which leaves them as they are.
std::vector<Gradients> behind_each_backward(const std::vector<nn::Ptr<TwoStages>>& models,
                                            const Tensor& hooked,
                                            const std::function<Tensor()>& loss, bool refused) {
  bool throws = false;
  const ScopedHandle hook = register_gradient_hook(hooked, [&](const Tensor&) -> Tensor {
    if (throws) {
      throw HookThrew();
    }
    return {};
  });
  std::vector<Gradients> seen;
  for (int round = 0; round < 2; ++round) {
    for (const auto& model : models) {
      seen.push_back(toy::gradients_of(*model));
    }
    if (refused) {
      throws = true;
      EXPECT_THROW(loss().backward(), HookThrew);
      throws = false;
      for (std::size_t i = 0; i < models.size(); ++i) {
        EXPECT_EQ(toy::gradients_of(*models[i]), seen[seen.size() - models.size() + i])
            << "model " << i << ", round " << round;
      }
    }
    loss().backward();
  }
  for (const auto& model : models) {
    seen.push_back(toy::gradients_of(*model));
  }
  return seen;
}

std::vector<Gradients> of_two_models(Communicator& comm, bool refused) {
  set_seed(7);
  const auto a = nn::make<TwoStages>(), b = nn::make<TwoStages>();
  const auto of_a = in_small_buckets(*a, comm), of_b = in_small_buckets(*b, comm);
  std::vector<Gradients> seen;
  with_a_batch([&](const Tensor& x) {
    const auto loss = [&] { return square(a(b(x))); };
    seen = behind_each_backward({a, b}, b->first->weight.value(), loss, refused);
  });
  return seen;
}

/// The sums of the one are finished when a hook on a sum of the other throws.
TEST(RefusedMidway, a_backward_through_two_models_leaves_the_gradients_of_both) {
  run_ranks(2, [](Communicator& comm) {
    const std::vector<Gradients> expected = of_two_models(comm, false);
    EXPECT_EQ(of_two_models(comm, true), expected);
  });
}

std::vector<Gradients> beside_a_tensor(Communicator& comm, bool refused) {
  set_seed(7);
  const auto model = nn::make<TwoStages>();
  const auto reducer = in_small_buckets(*model, comm);
  const Tensor scale = full({}, 1.5).set_requires_grad(true);
  std::vector<Gradients> seen;
  with_a_batch([&](const Tensor& x) {
    const auto loss = [&] { return square(model(x)) * scale; };
    seen = behind_each_backward({model}, scale, loss, refused);
  });
  return seen;
}

/// Its sum over the step's passes is finished when all models' are.
TEST(RefusedMidway, a_backward_that_throws_at_a_tensor_of_no_model_leaves_the_model_s_gradients) {
  run_ranks(2, [](Communicator& comm) {
    const std::vector<Gradients> expected = beside_a_tensor(comm, false);
    EXPECT_EQ(beside_a_tensor(comm, true), expected);
  });
}

/// The gradients of a loss that uses the first stage alone. Where `refused`, a backward through
/// both comes before, at whose end the ranks find out that they differ.
Gradients of_the_first_stage(Communicator& comm, bool refused) {
  set_seed(7);
  const auto model = nn::make<TwoStages>();
  const auto reducer = in_small_buckets(*model, comm);
  Gradients found;
  with_a_batch([&](const Tensor& x) {
    if (refused) {
      model->train(comm.rank() == 0);
      EXPECT_THROW(square(model(x)).backward(), Disagreement);
      EXPECT_EQ(toy::gradients_of(*model), Gradients(4));
      model->train();
    }
    square(model->first(x)).backward();
    found = toy::gradients_of(*model);
  });
  return found;
}

TEST(RefusedMidway, a_backward_of_ranks_that_differ_leaves_no_sums_to_the_next) {
  run_ranks(2, [](Communicator& comm) {
    const Gradients expected = of_the_first_stage(comm, false);
    EXPECT_TRUE(expected[2].empty());
    EXPECT_EQ(of_the_first_stage(comm, true), expected);
  });
}

/// The gradients of a backward for which the second stage is frozen on all ranks, or on none. Where
/// `refused`, one comes before for which rank 1 alone has frozen it.
Gradients behind_a_freeze(Communicator& comm, bool refused, bool frozen) {
  set_seed(7);
  const auto model = nn::make<TwoStages>();
  const auto reducer = in_small_buckets(*model, comm);
  Gradients found;
  with_a_batch([&](const Tensor& x) {
    if (refused) {
      model->second->requires_grad_(comm.rank() == 0);
      EXPECT_THROW(square(model(x)).backward(), Disagreement);
    }
    model->second->requires_grad_(!frozen);
    square(model(x)).backward();
    found = toy::gradients_of(*model);
  });
  return found;
}

TEST(RefusedMidway, what_one_rank_froze_the_others_may_freeze_for_the_next_try) {
  run_ranks(2, [](Communicator& comm) {
    const Gradients expected = behind_a_freeze(comm, false, true);
    EXPECT_EQ(behind_a_freeze(comm, true, true), expected);
  });
}

TEST(RefusedMidway, what_one_rank_froze_it_may_train_again_for_the_next_try) {
  run_ranks(2, [](Communicator& comm) {
    const Gradients expected = behind_a_freeze(comm, false, false);
    EXPECT_EQ(behind_a_freeze(comm, true, false), expected);
  });
}

TEST(RefusedMidway, a_rank_that_cannot_go_on_keeps_the_gradients_of_an_earlier_backward) {
  run_ranks(2, [](Communicator& comm) {
    set_seed(7);
    const auto model = nn::make<TwoStages>();
    const auto reducer = in_small_buckets(*model, comm);
    with_a_batch([&](const Tensor& x) {
      square(model(x)).backward();
      const Gradients before = toy::gradients_of(*model);
      model->second->requires_grad_(comm.rank() == 0);
      EXPECT_THROW(square(model(x) - x).backward(), Disagreement);
      EXPECT_EQ(toy::gradients_of(*model), before);
    });
  });
}

/// The gradients of a model whose second stage is new. Where `refused`, that one comes with a
/// gradient, and is laid out when it has none any more.
Gradients with_a_new_stage(Communicator& comm, bool refused) {
  set_seed(7);
  const auto model = nn::make<TwoStages>();
  const auto reducer = in_small_buckets(*model, comm);
  Gradients found;
  with_a_batch([&](const Tensor& x) {
    const auto fresh = nn::make<nn::Linear>(6, kWidth);
    model->set_submodule("second", fresh);
    if (refused) {
      fresh->weight.value().set_grad(ones({kWidth, 6}));
      EXPECT_THAT(error_of<InvalidArgument>([&] { square(model(x)).backward(); }),
                  HasSubstr("has a gradient of this rank's samples alone"));
      fresh->zero_grad();
    }
    square(model(x)).backward();
    found = toy::gradients_of(*model);
  });
  return found;
}

TEST(RefusedMidway, a_layout_that_was_refused_is_made_by_the_next_backward) {
  run_ranks(2, [](Communicator& comm) {
    const Gradients expected = with_a_new_stage(comm, false);
    EXPECT_EQ(with_a_new_stage(comm, true), expected);
  });
}

/// What the ranks find out in a step, without a reducer.
struct BareAgreement {
  explicit BareAgreement(Communicator& comm) : agreement(comm, watched, waits) {
    watched.accept();
    watched.look();
  }
  nn::Ptr<SixParameters> model = nn::make<SixParameters>();
  WatchedModel watched{*model};
  TimedWaits waits;
  StepAgreement agreement;
};

TEST(RefusedMidway, an_exchange_answers_for_no_later_step) {
  run_ranks(2, [](Communicator& comm) {
    set_seed(5);
    BareAgreement own(comm);
    const SixReduced six;
    own.agreement.begin();
    own.agreement.forget_step();
    EXPECT_NO_THROW(own.agreement.check_between_steps(six.parameters));
    set_seed(5U + static_cast<unsigned>(comm.rank()));
    own.agreement.begin();
    EXPECT_FALSE(own.agreement.holds());
    EXPECT_THAT(error_of<Disagreement>([&] { own.agreement.require(); }),
                HasSubstr("seed of random numbers"));
  });
}

constexpr std::int64_t kManyColumns = 400;

/// Of two ranks, one would own the narrow weight and a block of the wide one, the other the rest;
/// if each is to be one rank's, that block is the other rank's, too.
struct WideThenNarrow : nn::Module {
  nn::Child<nn::Linear> wide{this, "wide", kManyColumns, kManyColumns,
                             nn::LinearOptions{.bias = false}};
  nn::Child<nn::Linear> narrow{this, "narrow", kManyColumns, 1, nn::LinearOptions{.bias = false}};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return narrow(tanh(wide(x))); }
};

auto wide_loader() {
  return data::DataLoader(data::TensorDataset{randn({8, kManyColumns})},
                          {.batch_size = 4, .workers = 0, .grain = 2});
}

/// The weights behind two steps of SGD. Where `refused`, rank 0 takes the first one with Muon, and
/// both take it again.
Values behind_unlike_optimizers(Communicator& comm, bool refused) {
  set_seed(7);
  const auto model = nn::make<WideThenNarrow>();
  auto loader = wide_loader();
  const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
  optim::SGD sgd(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  optim::Muon muon(model->parameters());
  for (auto& [x] : loader) {
    square(model(x)).backward();
    if (refused && sgd.steps() == 0) {
      optim::Optimizer& own = comm.rank() == 0 ? static_cast<optim::Optimizer&>(muon) : sgd;
      EXPECT_THAT(error_of<Disagreement>([&] { own.step(); }), HasSubstr("Muon"));
    }
    sgd.step();
  }
  return values_of(*model);
}

TEST(RefusedMidway, a_step_of_unlike_optimizers_deals_out_nothing) {
  std::vector<Values> of_rank(2);
  run_ranks(2, [&](Communicator& comm) {
    const Values expected = behind_unlike_optimizers(comm, false);
    Values& found = of_rank[static_cast<std::size_t>(comm.rank())];
    found = behind_unlike_optimizers(comm, true);
    EXPECT_EQ(found, expected);
  });
  EXPECT_EQ(of_rank[0], of_rank[1]);
}

/// One rank would bring the other optimizer's state together, and wait for the other rank.
TEST(RefusedMidway, a_step_of_which_one_rank_lacks_the_gradient_deals_out_nothing) {
  const auto body = [](Communicator& comm) {
    set_seed(7);
    const auto model = nn::make<WideThenNarrow>();
    auto loader = wide_loader();
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 2});
    optim::AdamW of_narrow(model->narrow->parameters());
    optim::Muon of_wide(model->wide->parameters());
    for (auto& [x] : loader) {
      square(model(x)).backward();
      of_narrow.step();
      if (comm.rank() == 1) {
        model->zero_grad();
      }
      EXPECT_THAT(error_of<Disagreement>([&] { of_wide.step(); }), HasSubstr("no gradient"));
      model->zero_grad();
    }
  };
  run_ranks(2, body, {.deadline = std::chrono::seconds(20)});
}

struct OnOneMemory : nn::Module {};

TEST(RefusedMidway, data_parallel_leaves_two_parameters_on_one_memory_where_they_are) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<OnOneMemory>();
    const Tensor left = ones({6}), right = left.detach();
    model->register_parameter("left", left);
    model->register_parameter("right", right);
    EXPECT_THAT(error_of<ValueError>([&] { in_small_buckets(*model, comm); }),
                HasSubstr("data_parallel: the parameters left and right lie in the same memory"));
    EXPECT_TRUE(left.shares_storage(right));
    for (const nn::Parameter& parameter : model->parameters()) {
      EXPECT_EQ(parameter.slot()->ownership, nullptr);
    }
    model->register_parameter("right", ones({6}));
    EXPECT_NO_THROW(in_small_buckets(*model, comm));
  });
}

}  // namespace
}  // namespace tessera::dist
