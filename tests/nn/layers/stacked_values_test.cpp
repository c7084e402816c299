// Layers and losses of values that exist once a microbatch, a mean over the samples say: what they
// do with each microbatch alone.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/bilinear.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/multihead_attention.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rms_norm.h>
#include <tessera/nn/layers/rnn.h>
#include <tessera/nn/layers/rotary_embedding.h>
#include <tessera/nn/layers/upsample.h>
#include <tessera/nn/loss/bce_loss.h>
#include <tessera/nn/loss/bce_with_logits_loss.h>
#include <tessera/nn/loss/cosine_embedding_loss.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/loss/ctc_loss.h>
#include <tessera/nn/loss/hinge_embedding_loss.h>
#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/kl_div_loss.h>
#include <tessera/nn/loss/l1_loss.h>
#include <tessera/nn/loss/margin_ranking_loss.h>
#include <tessera/nn/loss/mse_loss.h>
#include <tessera/nn/loss/multi_margin_loss.h>
#include <tessera/nn/loss/nll_loss.h>
#include <tessera/nn/loss/smooth_l1_loss.h>
#include <tessera/nn/loss/triplet_margin_loss.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "support/op_tools.h"

namespace tessera::nn {
namespace {

using test::expect_same_bits;
using Function = std::function<Tensor(const Tensor& x)>;

struct Result {
  Tensor value;
  std::vector<Tensor> inputs, parameters;  ///< gradients
};

/// Of the microbatches `values` in one pass.
Result run(const Function& f, const std::vector<Tensor>& parameters,
           const std::vector<Tensor>& values) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : values) {
    leaves.push_back(x.detach().set_requires_grad(true));
  }
  const std::vector<TensorRef> pieces(leaves.begin(), leaves.end());
  const Tensor y = f(leaves.size() > 1 ? join_microbatches(pieces, -1) : leaves[0]);
  const Tensor total = sum(y * y);
  std::vector<Tensor> wanted = leaves;
  wanted.insert(wanted.end(), parameters.begin(), parameters.end());
  std::vector<Tensor> gradients = grad({&total, 1}, wanted);
  const auto middle = gradients.begin() + static_cast<std::ptrdiff_t>(leaves.size());
  return {y, {gradients.begin(), middle}, {middle, gradients.end()}};
}

void expect_as_each_alone(const std::string& name, const Function& f, const Shape& shape,
                          const std::vector<Tensor>& parameters) {
  SCOPED_TRACE(name);
  const std::vector<Tensor> values{rand(shape), rand(shape), rand(shape), rand(shape)};
  const Result all = run(f, parameters, values);
  ASSERT_TRUE(all.value.microbatches().per_microbatch);
  std::vector<Result> alone;
  for (std::size_t m = 0; m < values.size(); ++m) {
    alone.push_back(run(f, parameters, {values[m]}));
    expect_same_bits(unbind_microbatches(all.value)[m], alone[m].value, name);
    expect_same_bits(all.inputs[m], alone[m].inputs[0], name + ", gradient of the input");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto of = [&](std::size_t m) { return alone[m].parameters[i]; };
    expect_same_bits(all.parameters[i], (of(0) + of(1)) + (of(2) + of(3)),
                     name + ", gradient of parameter " + std::to_string(i));
  }
}

/// A function of a value that exists once a microbatch and of one that holds their samples.
using FunctionOfTwo = std::function<Tensor(const Tensor& x, const Tensor& samples)>;

/// `samples` holds those of four microbatches along dim `dim`.
void expect_beside_samples(const std::string& name, const Shape& shape, const Tensor& samples,
                           const FunctionOfTwo& f, int dim = 0) {
  SCOPED_TRACE(name + " beside samples");
  const std::vector<Tensor> values{rand(shape), rand(shape), rand(shape), rand(shape)};
  const Tensor cut = as_microbatches(samples, 4, dim);
  const Result all = run([&](const Tensor& x) { return f(x, cut); }, {}, values);
  ASSERT_TRUE(all.value.microbatches().per_microbatch);
  const Outputs pieces = unbind_microbatches(cut);
  for (std::size_t m = 0; m < values.size(); ++m) {
    const Result alone = run([&](const Tensor& x) { return f(x, pieces[m]); }, {}, {values[m]});
    expect_same_bits(unbind_microbatches(all.value)[m], alone.value, name);
    expect_same_bits(all.inputs[m], alone.inputs[0], name + ", gradient");
  }
}

template <class Model, class Call>
void expect_layer_as_each_alone(const Model& model, const Shape& shape, const Call& call) {
  std::vector<Tensor> parameters;
  for (const Parameter& parameter : model->parameters()) {
    parameters.push_back(parameter.value());
  }
  expect_as_each_alone(model->class_name(), call, shape, parameters);
}

template <class Model>
void expect_layer_as_each_alone(const Model& model, const Shape& shape) {
  expect_layer_as_each_alone(model, shape, [&](const Tensor& x) { return model(x); });
}

TEST(StackedValues, layers_take_them) {
  expect_layer_as_each_alone(make<Linear>(4, 3), {2, 4});
  expect_layer_as_each_alone(make<LayerNorm>(4), {2, 4});
  expect_layer_as_each_alone(make<LayerNorm>(Shape{2, 4}), {3, 2, 4});
  expect_layer_as_each_alone(make<RMSNorm>(Shape{2, 4}), {3, 2, 4});
  expect_layer_as_each_alone(make<GroupNorm>(2, 4), {2, 4, 3});
  expect_layer_as_each_alone(make<Conv1d>(3, 4, 3), {2, 3, 8});
  expect_layer_as_each_alone(make<Conv2d>(3, 4, 3, ConvOptions{.padding = 1}), {2, 3, 6, 5});
  expect_layer_as_each_alone(make<Conv2d>(3, 4, 3), {3, 6, 5});
  for (const PaddingMode mode :
       {PaddingMode::reflect, PaddingMode::replicate, PaddingMode::circular}) {
    expect_layer_as_each_alone(
        make<Conv2d>(3, 4, 3, ConvOptions{.padding = 1, .padding_mode = mode}), {2, 3, 6, 5});
  }
  expect_layer_as_each_alone(make<ConvTranspose2d>(3, 4, 3), {2, 3, 4, 5});
  expect_layer_as_each_alone(make<MaxPool2d>(2), {2, 3, 6, 4});
  expect_layer_as_each_alone(make<AvgPool2d>(2), {2, 3, 6, 4});
  expect_layer_as_each_alone(make<AdaptiveAvgPool2d>(2), {2, 3, 6, 5});
  expect_layer_as_each_alone(make<AdaptiveAvgPool2d>(PerDim{-1, 1}), {2, 3, 6, 5});
  expect_layer_as_each_alone(make<RotaryEmbedding>(4), {2, 3, 4});
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    expect_layer_as_each_alone(make<Upsample>(UpsampleOptions{.scale_factor = 2.0, .mode = mode}),
                               {2, 3, 4, 5});
  }
}

TEST(StackedValues, are_normalized_and_tracked_one_by_one) {
  const auto model = make<InstanceNorm1d>(3, InstanceNormOptions{.track_running_stats = true});
  data::DataLoader loader(data::TensorDataset(rand({8, 3, 4})), {.batch_size = 8, .grain = 4});
  for (const auto& [x] : loader) {
    EXPECT_TRUE(model(mean(x, {0}, true)).microbatches().per_microbatch);
  }
}

/// Random numbers of this shape, once for each of two microbatches.
Tensor two_of(const Shape& shape) {
  const std::vector<Tensor> values{rand(shape), rand(shape)};
  return join_microbatches(std::vector<TensorRef>(values.begin(), values.end()), -1);
}

TEST(StackedValues, tell_lazy_layers_their_sizes) {
  const auto model = make<LazyBatchNorm1d>();
  const Tensor x = two_of({2, 3, 4});
  EXPECT_THROW(static_cast<void>(model(x)), Error);  // which is not in a step
  EXPECT_EQ(model(rand({2, 3, 4})).shape(), (Shape{2, 3, 4}));
}

TEST(StackedValues, of_too_few_dims_are_refused) {
  EXPECT_THROW(static_cast<void>(make<RotaryEmbedding>(4)(two_of({4}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(make<Linear>(2, 3)(two_of({}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(make<LazyLinear>(3)(two_of({}))), ValueError);
}

TEST(StackedValues, recurrent_layers_take_them) {
  const auto check = [](const auto& model) {
    for (const Shape& shape : {Shape{3, 2, 4}, Shape{3, 4}}) {
      expect_layer_as_each_alone(model, shape, [&](const Tensor& x) { return model(x).first; });
    }
    expect_layer_as_each_alone(model, {3, 2, 4}, [&](const Tensor& x) {
      const auto [y, last] = model(x);
      return model(y, last).first;
    });
  };
  check(make<GRU>(4, 4));
  check(make<RNN>(4, 4));
  check(make<LSTM>(4, 4));
  check(make<LSTM>(4, 4, RecurrentOptions{.num_layers = 2, .batch_first = true}));
  const auto projected = make<LSTM>(4, 6, RecurrentOptions{.batch_first = true, .proj_size = 4});
  expect_layer_as_each_alone(projected, {2, 5, 4},
                             [&](const Tensor& x) { return projected(x).first; });
  const auto gru = make<GRUCell>(4, 4);
  expect_layer_as_each_alone(gru, {2, 4}, [&](const Tensor& x) { return gru(x, gru(x)); });
}

TEST(StackedValues, attention_takes_them) {
  for (const bool more : {false, true}) {
    const auto model = make<MultiheadAttention>(
        8, 2, MultiheadAttentionOptions{.add_bias_kv = more, .add_zero_attn = more});
    for (const bool weights : {false, true}) {
      for (const Shape& shape : {Shape{3, 2, 8}, Shape{3, 8}}) {
        expect_layer_as_each_alone(model, shape, [&](const Tensor& x) {
          return model(x, x, x, AttendOptions{.need_weights = weights}).first;
        });
      }
    }
  }
}

TEST(StackedValues, losses_over_classes_take_them) {
  const Tensor target = tensor<std::int64_t>({1, 3});
  const Tensor weight = rand({4});
  const auto check = [&](const Shape& shape, const Tensor& targets,
                         const CrossEntropyLossOptions& options) {
    expect_as_each_alone("cross entropy",
                         [&](const Tensor& x) { return cross_entropy_loss(x, targets, options); },
                         shape, {});
  };
  check({2, 4, 3}, reshape(tensor<std::int64_t>({1, 3, 0, 2, 1, 1}), {2, 3}), {});
  check({2, 4}, rand({2, 4}), {.label_smoothing = 0.1});
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    check({2, 4}, target, {.weight = weight, .reduction = reduction, .label_smoothing = 0.1});
    check({2, 4}, target, {.reduction = reduction, .label_smoothing = 0.1});
    expect_as_each_alone(
        "nll", [&](const Tensor& x) { return nll_loss(x, target, {.reduction = reduction}); },
        {2, 4}, {});
  }
}

TEST(StackedValues, losses_of_pairs_and_sequences_take_them) {
  const Tensor other = rand({2, 4}), signs = tensor<float>({1, -1});
  const auto check = [](const char* name, const Shape& shape, const Function& f) {
    expect_as_each_alone(name, f, shape, {});
  };
  check("triplet margin", {2, 4},
        [&](const Tensor& x) { return triplet_margin_loss(x, other, x * other); });
  check("cosine embedding", {2, 4},
        [&](const Tensor& x) { return cosine_embedding_loss(x, x * other, signs); });
  check("margin ranking", {2},
        [&](const Tensor& x) { return margin_ranking_loss(x, x * x, signs); });
  check("hinge embedding", {2}, [&](const Tensor& x) { return hinge_embedding_loss(x, signs); });
  check("multi margin", {2, 4}, [&](const Tensor& x) {
    return multi_margin_loss(x, tensor<std::int64_t>({0, 1}));
  });
  check("ctc", {5, 2, 4}, [&](const Tensor& x) {
    const auto ids = [](std::int64_t a, std::int64_t b) { return tensor<std::int64_t>({a, b}); };
    return ctc_loss(log_softmax(x, -1), ids(1, 2), ids(5, 4), ids(1, 1));
  });
}

TEST(StackedValues, losses_by_element_take_them) {
  const Tensor target = rand({2, 4});
  const auto check = [&](const char* name, const Function& f) {
    expect_as_each_alone(name, f, {2, 4}, {});
  };
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    check("mse", [&](const Tensor& x) { return mse_loss(x, target, reduction); });
    check("l1", [&](const Tensor& x) { return l1_loss(x, target, reduction); });
    check("smooth l1",
          [&](const Tensor& x) { return smooth_l1_loss(x, target, {.reduction = reduction}); });
    check("huber",
          [&](const Tensor& x) { return huber_loss(x, target, {.reduction = reduction}); });
    check("bce with logits", [&](const Tensor& x) {
      return binary_cross_entropy_with_logits(x, target, {.reduction = reduction});
    });
  }
  for (const KLDivReduction reduction : {KLDivReduction::mean, KLDivReduction::batchmean,
                                         KLDivReduction::sum, KLDivReduction::none}) {
    check("kl div", [&](const Tensor& x) { return kl_div(x, target, {.reduction = reduction}); });
  }
}

TEST(StackedValues, losses_take_them_beside_samples) {
  using T = const Tensor&;
  const Tensor samples = rand({8, 4}), weight = rand({4});
  const Tensor classes = tensor<std::int64_t>({1, 3, 0, -100, 2, 2, 0, 1});
  const Tensor signs = tensor<float>({1, -1, 1, 1, -1, 1, -1, -1});
  const auto check = [&](const char* name, const FunctionOfTwo& f) {
    expect_beside_samples(name, {2, 4}, samples, f);
    expect_beside_samples(name, {2, 4}, samples, [&](T x, T s) { return f(s, x); });
  };
  check("mse", [](T x, T y) { return mse_loss(x, y); });
  check("l1", [](T x, T y) { return l1_loss(x, y); });
  check("smooth l1", [](T x, T y) { return smooth_l1_loss(x, y); });
  check("huber", [](T x, T y) { return huber_loss(x, y); });
  check("bce", [](T x, T y) { return binary_cross_entropy(x, y); });
  check("bce with logits", [](T x, T y) { return binary_cross_entropy_with_logits(x, y); });
  check("kl div", [](T x, T y) { return kl_div(x, y, {.reduction = KLDivReduction::batchmean}); });
  check("weighted mean", [](T x, T y) { return weighted_mean(x * y, y * 1.0) * sum(x * y); });
  check("distributions", [](T x, T y) { return cross_entropy_loss(x, y); });
  check("triplet margin", [](T x, T y) { return triplet_margin_loss(x, y, x * 2.0); });
  check("cosine embedding", [](T x, T y) {
    return cosine_embedding_loss(x, y, tensor<float>({1, -1}));
  });
  expect_beside_samples("nll", {2, 4}, classes, [](T x, T y) { return nll_loss(x, y); });
  for (const double smoothing : {0.0, 0.1}) {
    expect_beside_samples("cross entropy", {2, 4}, classes, [&](T x, T y) {
      return cross_entropy_loss(x, y, {.label_smoothing = smoothing});
    });
    expect_beside_samples("weighted classes", {2, 4}, classes, [&](T x, T y) {
      return cross_entropy_loss(x, y, {.weight = weight, .label_smoothing = smoothing});
    });
  }
  expect_beside_samples("multi margin", {2, 4}, clamp(classes, 0, 3),
                        [](T x, T y) { return multi_margin_loss(x, y); });
  expect_beside_samples("margin ranking", {2}, signs,
                        [](T x, T y) { return margin_ranking_loss(x, x * x, y); });
  expect_beside_samples("hinge embedding", {2}, signs,
                        [](T x, T y) { return hinge_embedding_loss(x, y); });
}

TEST(StackedValues, layers_take_them_beside_samples) {
  using T = const Tensor&;
  const auto attention = make<MultiheadAttention>(8, 2);
  expect_beside_samples("keys", {2, 5, 8}, rand({8, 3, 8}), [&](T x, T y) {
    return attention(transpose(y, 0, 1), transpose(x, 0, 1), transpose(x, 0, 1)).first;
  });
  const auto gru = make<GRU>(4, 4, RecurrentOptions{.batch_first = true});
  expect_beside_samples("first state", {1, 2, 4}, rand({8, 3, 4}),
                        [&](T x, T y) { return gru(y, x).first; });
  expect_beside_samples("stack", {2, 4}, rand({8, 4}), [](T x, T y) {
    return stack({y, x, y}, 1) + stack({x, y, x}, 1);
  });
  const auto cell = make<LSTMCell>(4, 4);
  expect_beside_samples("first state of a cell", {2, 4}, rand({8, 4}), [&](T x, T y) {
    return cell(y, LstmState{x, x * y}).first;
  });
  const auto bilinear = make<Bilinear>(4, 3, 5);
  expect_beside_samples("bilinear", {2, 4}, rand({8, 3}), [&](T x, T y) { return bilinear(x, y); });
}

}  // namespace
}  // namespace tessera::nn
