// Steps of several passes: the update comes in the last one, and nobody takes old weights for new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

#include "support/error_of.h"

namespace tessera::optim {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

struct Two : nn::Module {
  nn::Child<nn::Linear> a{this, "a", 4, 4};
  nn::Child<nn::Linear> b{this, "b", 4, 4};
};

data::LoaderOptions in_passes(std::int64_t at_once) {
  return {.batch_size = 8, .workers = 0, .grain = 4, .at_once = at_once};
}

/// Runs `body(model, of_a, of_b, batch)` in every pass of a batch.
void run(std::int64_t at_once, const auto& body) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = nn::make<Two>();
  SGD of_a(model->a->parameters(), {.lr = 0.1});
  SGD of_b(model->b->parameters(), {.lr = 0.1});
  data::DataLoader loader(data::TensorDataset{randn({16, 4})}, in_passes(at_once));
  for (auto& [batch] : loader) {
    body(*model, of_a, of_b, batch);
  }
}

Tensor loss(const nn::Linear& layer, const Tensor& x) {
  const Tensor y = layer(x);
  return mean(y * y);
}

std::string error_of_passes(std::int64_t at_once, const auto& body) {
  return error_of([&] { run(at_once, body); });
}

TEST(Passes, weights_that_the_last_pass_updates_are_not_read_after_step) {
  const auto adversaries = [](Two& m, SGD& of_a, SGD& of_b, const Tensor& x) {
    loss(*m.a, x).backward();
    of_a.step();
    loss(*m.a, m.b(x)).backward();  // with the new weights of a
    of_b.step();
  };
  EXPECT_THAT(error_of_passes(2, adversaries),
              HasSubstr("\"a.weight\" is used after optimizer.step()"));
  EXPECT_EQ(error_of_passes(0, adversaries), "no error");
  const auto averaged = [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
    loss(*m.a, x).backward();
    of_a.step();
    const NoGradGuard no_grad;
    m.b->weight.value().copy_(m.a->weight.value());
  };
  EXPECT_THAT(error_of_passes(1, averaged), HasSubstr("`if (optimizer.step().ended)`"));
}

TEST(Passes, what_another_optimizer_updates_or_the_last_pass_reads_is_fine) {
  EXPECT_EQ(error_of_passes(1,
                            [](Two& m, SGD& of_a, SGD& of_b, const Tensor& x) {
                              loss(*m.a, x).backward();
                              of_a.step();
                              loss(*m.b, x).backward();
                              of_b.step();
                            }),
            "no error");
  EXPECT_EQ(error_of_passes(2,
                            [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
                              loss(*m.a, x).backward();
                              if (of_a.step().ended) {
                                const NoGradGuard no_grad;
                                m.b->weight.value().copy_(m.a->weight.value());
                              }
                            }),
            "no error");
}

/// Loops inside the loop: what they see is what the pass sees.
void evaluate(const nn::Linear& layer) {
  data::LoaderOptions options = in_passes(0);
  options.counts_steps = false;
  data::DataLoader held_out(data::TensorDataset{ones({8, 4})}, options);
  const InferenceGuard inference;
  for (auto& [batch] : held_out) {
    static_cast<void>(layer(batch));
  }
}

/// Every way to the values of a parameter of `m.a`, of which `before` is an older handle.
const std::map<std::string, std::function<void(Two& m, const Tensor& before)>> kUses = {
    {"value", [](Two& m, const Tensor&) { static_cast<void>(sum(m.a->weight.value())); }},
    {"handle", [](Two&, const Tensor& before) { static_cast<void>(before * 2.0); }},
    {"item", [](Two&, const Tensor& before) { static_cast<void>(sum(before.detach()).item()); }},
    {"values", [](Two&, const Tensor& before) { static_cast<void>(before.to_vector<float>()); }},
    {"data", [](Two&, const Tensor& before) { static_cast<void>(before.data<float>()); }},
    {"text", [](Two&, const Tensor& before) { std::ostringstream() << before; }},
    {"written", [](Two&, const Tensor& before) { fill_(before.detach(), 0); }},
    {"state", [](Two& m, const Tensor&) { m.b->load_state_dict(m.a->state_dict()); }},
    {"loaded", [](Two& m, const Tensor&) { m.a->load_state_dict(m.b->state_dict()); }},
    {"assigned", [](Two& m, const Tensor&) { m.a->set_v(m.b->v()); }},
    {"clone", [](Two& m, const Tensor&) { static_cast<void>(m.clone()); }},
    {"variables", [](Two& m, const Tensor&) { static_cast<void>(0.5 * m.a->v()); }},
    {"evaluation", [](Two& m, const Tensor&) { evaluate(*m.a); }},
};

TEST(Passes, no_way_to_weights_that_the_last_pass_updates_gives_old_ones) {
  for (const auto& [name, use] : kUses) {
    const auto body = [&](Two& m, SGD& of_a, SGD&, const Tensor& x) {
      const Tensor before = m.a->weight.value();
      loss(*m.a, x).backward();
      const bool ended = of_a.step().ended;
      const NoGradGuard no_grad;
      if (!ended || Context::current().pass.count == 4) {
        use(m, before);
      }
    };
    EXPECT_THAT(error_of_passes(2, body), HasSubstr("`if (optimizer.step().ended)`")) << name;
    EXPECT_EQ(error_of_passes(0, body), "no error") << name;
  }
}

TEST(Passes, run_the_same_number_of_backwards) {
  const auto skipping = [](std::int64_t pass, bool whole_step) {
    return [=](Two& m, SGD& of_a, SGD&, const Tensor& x) {
      if (whole_step || Context::current().pass.first != pass) {
        loss(*m.a, x).backward();
      }
      of_a.step();
    };
  };
  EXPECT_EQ(error_of_passes(1, skipping(0, true)), "no error");
  for (const std::int64_t pass : {0, 1, 2, 3}) {
    EXPECT_THAT(error_of_passes(1, skipping(pass, false)),
                HasSubstr(pass == 0 ? "got 1 in pass 1, expected 0 as in pass 0"
                                    : "expected 1 as in pass 0"));
  }
  const auto penalized = [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
    loss(*m.a, x).backward();
    if (Context::current().pass.last) {
      mean(m.a->weight * m.a->weight).backward();
    }
    of_a.step();
  };
  EXPECT_THAT(error_of_passes(1, penalized), HasSubstr("got 2 in pass 3, expected 1"));
  EXPECT_EQ(error_of_passes(0, penalized), "no error");
}

/// A loop that was left in a step's first pass, then another loader from the beginning.
TEST(Passes, begin_anew_with_another_loop) {
  const auto weights = [](bool tried) {
    const ContextScope scope(std::make_shared<Context>());
    const auto model = nn::make<Two>();
    SGD optimizer(model->a->parameters(), {.lr = 0.1});
    const data::TensorDataset data{randn({16, 4})};
    if (tried) {
      data::DataLoader trial(data::TensorDataset{ones({16, 4})}, in_passes(1));
      const auto leave = [&] {
        for (auto& [batch] : trial) {
          loss(*model->a, batch).backward();
          break;
        }
      };
      EXPECT_THROW(leave(), RuntimeError);
    }
    data::DataLoader loader(data, in_passes(1));
    for (auto& [batch] : loader) {
      loss(*model->a, batch).backward();
      optimizer.step();
    }
    return model->a->weight.value().to_vector<float>();
  };
  EXPECT_EQ(weights(true), weights(false));
}

TEST(Passes, what_a_broken_loop_left_can_be_used) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = nn::make<Two>();
  SGD optimizer(model->a->parameters(), {.lr = 0.1});
  data::DataLoader loader(data::TensorDataset{randn({16, 4})}, in_passes(2));
  const auto leave = [&] {
    for (auto& [batch] : loader) {
      loss(*model->a, batch).backward();
      optimizer.step();
      break;
    }
  };
  EXPECT_THROW(leave(), RuntimeError);
  EXPECT_NO_THROW(static_cast<void>(model->a(ones({8, 4}))));
}

TEST(Passes, what_is_refused_after_step_has_changed_nothing) {
  const std::map<std::string, std::function<void(nn::Module&)>> writes{
      {"set_v", [](nn::Module& m) { m.set_v(nn::make<Two>()->v()); }},
      {"to_empty", [](nn::Module& m) { m.to_empty(Device{}); }},
      {"load_state_dict", [](nn::Module& m) { m.load_state_dict(nn::make<Two>()->state_dict()); }}};
  for (const auto& [name, write] : writes) {
    run(2, [&](Two& model, SGD&, SGD& of_b, const Tensor& x) {
      loss(*model.b, x).backward();
      const std::vector<float> before = model.a->weight.value().to_vector<float>();
      if (!of_b.step().ended) {
        EXPECT_THAT(error_of<RuntimeError>([&] { write(model); }), HasSubstr("b.weight")) << name;
        EXPECT_EQ(model.a->weight.value().to_vector<float>(), before) << name;
      }
    });
  }
}

}  // namespace
}  // namespace tessera::optim
