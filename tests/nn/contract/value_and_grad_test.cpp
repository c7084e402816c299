// Row F11 in passes of several microbatches: the value and the gradient are those of the pass's
// batch in one piece.
#include <gtest/gtest.h>

#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/loss/cross_entropy_loss.h>

#include "models.h"

namespace tessera::nn::contract {
namespace {

constexpr std::int64_t kBatch = 16;

/// In one piece, and as a loader cuts it, what `loss(model, x, y)` and its gradient are.
template <class F>
void expect_those_of_one_piece(const F& loss, const Tensor& x, const Tensor& y) {
  const auto model = make<Linear>(6, 5);
  const auto whole = value_and_grad([&](const auto& m) { return loss(m, x, y); }, model);
  for (const std::int64_t grain : {1, 4, 8}) {
    data::DataLoader loader(data::TensorDataset{x, y}, {.batch_size = kBatch, .grain = grain});
    for (auto& [inputs, targets] : loader) {
      const auto pass =
          value_and_grad([&](const auto& m) { return loss(m, inputs, targets); }, model);
      EXPECT_NEAR(pass.value.item(), whole.value.item(), 1e-6) << "grain " << grain;
      for (const char* name : {"weight", "bias"}) {
        const auto expected = whole.grads.at(name).template to_vector<float>();
        const auto actual = pass.grads.at(name).template to_vector<float>();
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_NEAR(actual[i], expected[i], 1e-6) << name << " " << i << ", grain " << grain;
        }
      }
    }
  }
}

Tensor labels() {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    labels.push_back(i * 7 % 5);
  }
  return from_values<std::int64_t>(labels, {kBatch});
}

TEST(F11, a_pass_leaves_buffers_in_their_shape) {
  const auto norm = make<BatchNorm1d>(3);
  data::DataLoader loader(data::TensorDataset{randn({16, 3})}, {.batch_size = 16, .grain = 4});
  for (auto& [x] : loader) {
    static_cast<void>(norm(x));
    const auto pass = value_and_grad([&](const auto& m) { return mean(m->weight * 1.0); }, norm);
    EXPECT_EQ(pass.updated->running_mean.value().shape(), Shape{3});
  }
}

TEST(F11, a_pass_gives_the_mean_of_its_microbatches) {
  const auto loss = [](const auto& m, const Tensor& x, const Tensor& y) {
    return cross_entropy_loss(m(x), y) + mean(m(x) * m(x));
  };
  expect_those_of_one_piece(loss, randn({kBatch, 6}), labels());
}

TEST(F11, a_pass_gives_the_sum_over_its_samples) {
  const auto loss = [](const auto& m, const Tensor& x, const Tensor& y) {
    return cross_entropy_loss(m(x), y, {.reduction = Reduction::sum}) * 0.5;
  };
  expect_those_of_one_piece(loss, randn({kBatch, 6}), labels());
}

TEST(F11, gradients_are_subtracted_from_the_variables_of_a_model_with_buffers) {
  const auto norm = make<BatchNorm1d>(3);
  const auto [value, grads, next] =
      value_and_grad([](const auto& m) { return mean(m->weight * 6.0); }, norm);
  const Variables v = norm->v() - 0.5 * grads;
  EXPECT_EQ(v.at("weight").to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(norm(ones({4, 3}), CallOptions{.v = &v}).shape(), (Shape{4, 3}));
}

TEST(F11, a_pass_gives_the_mean_of_what_counts) {
  const auto loss = [](const auto& m, const Tensor& x, const Tensor& y) {
    return cross_entropy_loss(m(x), y, {.ignore_index = 2}) * 3.0;
  };
  expect_those_of_one_piece(loss, randn({kBatch, 6}), labels());
}

}  // namespace
}  // namespace tessera::nn::contract
