// Row M5: modules stacked to one.
#include <tessera/nn/functional/ensemble.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/optim/sgd.h>

#include "models.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::Floats;

std::vector<ModulePtr> three_linears() {
  return {make<Linear>(4, 2), make<Linear>(4, 2), make<Linear>(4, 2)};
}

Floats row(const Tensor& x, std::int64_t i) {
  return select(x, 0, i).to_vector<float>();
}

TEST(M5, leaves_have_a_leading_dim) {
  const auto members = three_linears();
  const ModulePtr stacked = stack_modules(members);
  EXPECT_EQ(names_of(stacked->named_parameters()), "weight bias ");
  EXPECT_EQ(stacked->get_parameter("weight").shape(), (Shape{3, 2, 4}));
  EXPECT_TRUE(stacked->get_parameter("weight").value().requires_grad());
  EXPECT_EQ(row(stacked->get_parameter("bias"), 1),
            members[1]->get_parameter("bias").value().to_vector<float>());
  EXPECT_EQ(ensemble_size(*stacked), 3);
}

TEST(M5, a_call_gives_what_the_members_give) {
  const auto members = three_linears();
  const ModulePtr stacked = stack_modules(members);
  const Tensor x = randn({5, 4});
  const Tensor each = randn({3, 5, 4});
  const Tensor y = ensemble_call(*stacked, x);
  const Tensor z = ensemble_call(*stacked, each, EnsembleInput::each);
  EXPECT_EQ(y.shape(), (Shape{3, 5, 2}));
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(row(y, i), (*members[at])(x).to_vector<float>());
    EXPECT_EQ(row(z, i), (*members[at])(select(each, 0, i)).to_vector<float>());
  }
}

TEST(M5, gradients_end_in_the_stacked_parameters) {
  const auto members = three_linears();
  const ModulePtr stacked = stack_modules(members);
  const Tensor x = randn({5, 4});
  sum(ensemble_call(*stacked, x) * ensemble_call(*stacked, x)).backward();
  for (int i = 0; i < 3; ++i) {
    const ModulePtr& member = members[static_cast<std::size_t>(i)];
    sum((*member)(x) * (*member)(x)).backward();
    EXPECT_EQ(row(stacked->get_parameter("weight").grad(), i),
              member->get_parameter("weight").grad().to_vector<float>());
  }
}

TEST(M5, the_stack_has_memory_of_its_own_and_keeps_ties) {
  const auto tied = [] {
    const auto model = make<Leaf>();
    const auto scale = model->register_module("a", std::shared_ptr<Scale>(make<Scale>()));
    model->register_module("b", scale);
    return model;
  };
  const std::vector<ModulePtr> members{tied(), tied()};
  const ModulePtr stacked = stack_modules(members);
  EXPECT_EQ(names_of(stacked->named_parameters()), "a.factor ");
  stacked->get_parameter("b.factor").value().detach().copy_(zeros({2, 3}));
  EXPECT_EQ(members[0]->get_parameter("a.factor").value().to_vector<float>(), (Floats{2, 2, 2}));
}

TEST(M5, statistics_of_batch_norm_are_put_back_together) {
  const std::vector<ModulePtr> members{make<BatchNorm1d>(4), make<BatchNorm1d>(4)};
  const ModulePtr stacked = stack_modules(members);
  const Tensor x = randn({2, 8, 4});
  static_cast<void>(ensemble_call(*stacked, x, EnsembleInput::each));
  for (int i = 0; i < 2; ++i) {
    const ModulePtr& member = members[static_cast<std::size_t>(i)];
    static_cast<void>((*member)(select(x, 0, i)));
    for (const auto& [name, buffer] : member->named_buffers()) {
      EXPECT_EQ(select(*stacked->get_buffer(name), 0, i).to_vector<double>(),
                buffer.value().to_vector<double>())
          << name;
    }
  }
}

/// The running mean that `call(model, x)` leaves in `model` after steps of several microbatches.
template <class Call>
Tensor running_mean_of(const ModulePtr& model, const Tensor& rows, const Call& call) {
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  data::DataLoader loader(data::TensorDataset{rows}, {.batch_size = 8, .grain = 4});
  for (auto& [x] : loader) {
    sum(call(x)).backward();
    optimizer.step();
  }
  return model->get_buffer("running_mean").value();
}

TEST(M5, buffers_follow_in_steps_of_several_microbatches) {
  const std::vector<ModulePtr> members{make<BatchNorm1d>(3), make<BatchNorm1d>(3)};
  const ModulePtr stacked = stack_modules(members);
  const Tensor rows = randn({16, 3});
  const Tensor alone =
      running_mean_of(members[0], rows, [&](const Tensor& x) { return (*members[0])(x); });
  const Tensor both =
      running_mean_of(stacked, rows, [&](const Tensor& x) { return ensemble_call(*stacked, x); });
  EXPECT_EQ(row(both, 0), alone.to_vector<float>());
  EXPECT_EQ(row(both, 1), alone.to_vector<float>());
  EXPECT_NE(row(both, 0), Floats(3, 0));
}

TEST(M5, members_draw_different_numbers) {
  struct Dropping : Module {
    Child<Scale> scale{this, "scale", 64};
    Child<Dropout> drop{this, "drop", 0.5};
    Tensor forward(const Tensor& x) const { return drop(scale(x)); }
  };
  const std::vector<ModulePtr> members{make<Dropping>(), make<Dropping>()};
  const Tensor y = ensemble_call(*stack_modules(members), ones({1, 64}));
  EXPECT_NE(row(y, 0), row(y, 1));
}

TEST(M5, what_does_not_fit_is_named) {
  EXPECT_THROW(static_cast<void>(stack_modules({})), ValueError);
  const std::vector<ModulePtr> others{make<Linear>(4, 2), make<Linear>(4, 3)};
  EXPECT_THROW(static_cast<void>(stack_modules(others)), StructureError);
  std::vector<ModulePtr> cast = three_linears();
  cast[2]->to(DType::f64);
  EXPECT_THROW(static_cast<void>(stack_modules(cast)), StructureError);
  EXPECT_THROW(static_cast<void>(ensemble_size(*make<Leaf>())), ValueError);
  const ModulePtr stacked = stack_modules(three_linears());
  EXPECT_THROW(static_cast<void>(ensemble_member(*stacked, 3)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(ensemble_call(*stacked, randn({2, 4}), EnsembleInput::each)),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn::contract
