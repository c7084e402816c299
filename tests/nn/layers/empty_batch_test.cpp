// Batches without a sample, as an expert sees that gets no tokens: empty results, and zeros for
// gradients, whatever was computed before.
#include <gtest/gtest.h>

#include <algorithm>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/bilinear.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/rnn.h>

namespace tessera::nn {
namespace {

/// Sums the result of `forward` for a batch of 5, then for one of 0.
template <class Model, class Forward>
void expect_nothing_of_nothing(const Model& model, DType dtype, const Forward& forward) {
  model->to(dtype);
  sum(forward(5)).backward();
  model->zero_grad();
  const Tensor y = forward(0);
  EXPECT_EQ(y.numel(), 0) << model->class_name();
  sum(y).backward();
  for (const auto& [name, parameter] : model->named_parameters()) {
    const Tensor gradient = parameter.value().grad();
    ASSERT_TRUE(gradient.defined()) << model->class_name() << ' ' << name;
    const auto values = gradient.template to_vector<double>();
    EXPECT_TRUE(std::ranges::all_of(values, [](double x) { return x == 0; }))
        << model->class_name() << ' ' << name << ": " << gradient;
  }
}

TEST(EmptyBatches, give_zeros_for_gradients) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const TensorOptions options{.dtype = dtype};
    const auto check = [&](const auto& model, auto... sizes) {
      expect_nothing_of_nothing(model, dtype, [&](std::int64_t batch) {
        return model(ones({batch, sizes...}, options));
      });
    };
    check(make<Linear>(4, 3), 4);
    check(make<Conv1d>(4, 3, 2), 4, 3);
    check(make<LayerNorm>(4), 4);
    check(make<GroupNorm>(2, 4), 4, 3);
    check(make<BatchNorm1d>(4), 4);
    check(make<BatchNorm2d>(4), 4, 2, 2);
    check(make<InstanceNorm1d>(4, InstanceNormOptions{.affine = true}), 4, 3);
    const auto bilinear = make<Bilinear>(4, 2, 3);
    expect_nothing_of_nothing(bilinear, dtype, [&](std::int64_t batch) {
      return bilinear(ones({batch, 4}, options), ones({batch, 2}, options));
    });
    const auto recur = [&](const auto& model) {
      expect_nothing_of_nothing(model, dtype, [&](std::int64_t batch) {
        return model(ones({3, batch, 4}, options)).first;
      });
    };
    recur(make<LSTM>(4, 3));
    recur(make<GRU>(4, 3));
    recur(make<RNN>(4, 3));
  }
}

/// As torch.nn.BatchNorm2d: the batch counts, its statistics do not.
TEST(EmptyBatches, leave_running_statistics_alone) {
  const auto norm = make<BatchNorm2d>(3);
  norm(zeros({0, 3, 2, 2}));
  EXPECT_EQ(norm->running_mean.value().to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(norm->running_var.value().to_vector<float>(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(norm->num_batches_tracked.value().item<std::int64_t>(), 1);
  norm->eval();
  EXPECT_EQ(norm(zeros({0, 3, 2, 2})).shape(), (Shape{0, 3, 2, 2}));
}

TEST(EmptyBatches, of_one_value_a_channel_are_refused_still) {
  EXPECT_THROW(make<BatchNorm1d>(3)(zeros({1, 3})), ValueError);
  EXPECT_THROW(make<InstanceNorm1d>(3)(zeros({2, 3, 1})), ValueError);
}

}  // namespace
}  // namespace tessera::nn
