// Steps of several passes: the update comes in the last one, and nobody takes old weights for new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/sgd.h>

namespace tessera::optim {
namespace {

using testing::HasSubstr;

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

std::string error_of(std::int64_t at_once, const auto& body) {
  try {
    run(at_once, body);
    return "no error";
  } catch (const RuntimeError& error) {
    return error.what();
  }
}

TEST(Passes, weights_that_the_last_pass_updates_are_not_read_after_step) {
  const auto adversaries = [](Two& m, SGD& of_a, SGD& of_b, const Tensor& x) {
    loss(*m.a, x).backward();
    of_a.step();
    loss(*m.a, m.b(x)).backward();  // with the new weights of a
    of_b.step();
  };
  EXPECT_THAT(error_of(2, adversaries), HasSubstr("is read after optimizer.step()"));
  EXPECT_EQ(error_of(0, adversaries), "no error");
  const auto averaged = [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
    loss(*m.a, x).backward();
    of_a.step();
    const NoGradGuard no_grad;
    m.b->weight.value().copy_(m.a->weight.value());
  };
  EXPECT_THAT(error_of(1, averaged), HasSubstr("`if (optimizer.step().ended)`"));
}

TEST(Passes, what_another_optimizer_updates_or_the_last_pass_reads_is_fine) {
  EXPECT_EQ(error_of(1,
                     [](Two& m, SGD& of_a, SGD& of_b, const Tensor& x) {
                       loss(*m.a, x).backward();
                       of_a.step();
                       loss(*m.b, x).backward();
                       of_b.step();
                     }),
            "no error");
  EXPECT_EQ(error_of(2,
                     [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
                       loss(*m.a, x).backward();
                       if (of_a.step().ended) {
                         const NoGradGuard no_grad;
                         m.b->weight.value().copy_(m.a->weight.value());
                       }
                     }),
            "no error");
}

TEST(Passes, an_evaluation_inside_a_pass_reads_what_there_is) {
  EXPECT_EQ(error_of(2,
                     [](Two& m, SGD& of_a, SGD&, const Tensor& x) {
                       loss(*m.a, x).backward();
                       of_a.step();
                       data::LoaderOptions options = in_passes(0);
                       options.counts_steps = false;
                       data::DataLoader held_out(data::TensorDataset{ones({8, 4})}, options);
                       const InferenceGuard inference;
                       for (auto& [batch] : held_out) {
                         static_cast<void>(m.a(batch));
                       }
                     }),
            "no error");
}

}  // namespace
}  // namespace tessera::optim
