// Models that draw for their samples, that are called several times a pass or that make tensors of
// their own: the same weights on any number of ranks.
#include <gtest/gtest.h>

#include <array>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/gather.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/index_select.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/random_like.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/optim/sgd.h>

#include "dist/parallel/any_number_of_ranks.h"
#include "support/sizes.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

constexpr std::int64_t kNumbers = 16;  // in a sample

/// A variational autoencoder whose code is noisy.
struct Vae : nn::Module {
  nn::Child<nn::Linear> encoder{this, "encoder", kNumbers, 8};
  nn::Child<nn::Linear> decoder{this, "decoder", 4, kNumbers};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor h = encoder(x * bernoulli(full_like(x, 0.9)));
    const Tensor mean_code = slice(h, 1, 0, 4);
    const Tensor noise = randn_like(mean_code) + rand_like(mean_code);
    const Tensor y = decoder(mean_code + exp(0.5 * slice(h, 1, 4, 8)) * noise);
    return mean((y - x) * (y - x));
  }
};

/// One network on both halves of a sample.
struct Siamese : nn::Module {
  nn::Child<nn::Conv1d> conv{this, "conv", 1, 3, 3};
  nn::Child<nn::Linear> head{this, "head", 6, 5};
  nn::Child<nn::Dropout> dropout{this, "dropout", 0.25};
  [[nodiscard]] Tensor embed(const Tensor& x) const {
    return head(dropout(tanh(mean(conv(unsqueeze(x, 1)), {1}))));
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor difference = embed(slice(x, 1, 0, 8)) - embed(slice(x, 1, 8, 16));
    return mean(difference * difference);
  }
};

/// Encoders of convolutions and of a recurrent layer, three times a pass: sums of many samples for
/// few numbers, one by one, beside a head whose few rows are summed together, or are many once.
struct Triplet : nn::Module {
  nn::Child<nn::Conv2d> image{this, "image", 1, 3, 3, nn::ConvOptions{.padding = 1}};
  nn::Child<nn::GRU> rows{this, "rows", 12, 5, nn::RecurrentOptions{.batch_first = true}};
  nn::Child<nn::Linear> head{this, "head", 5, 24};
  [[nodiscard]] Tensor encode(const Tensor& x) const {
    const Tensor seen = image(reshape(x, {-1, 1, 4, 4}));
    return rows(reshape(transpose(seen, 1, 2), {-1, 4, 12})).first;
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor all = encode(x);
    const Tensor anchor = head(select(all, 1, 3));
    const Tensor near = anchor - head(select(encode(x * 0.9), 1, 3));
    const Tensor far = anchor - head(select(encode(x - 0.5), 1, 3));
    return mean(near * near) - 0.1 * mean(far * far) + mean(head(concat({all, all, all}, 1)));
  }
};

/// A bias that is used twice beside weights that are used once.
struct SharedBias : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, kNumbers};
  nn::Child<nn::LayerNorm> norm{this, "norm", kNumbers};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor bias = first->bias.value();
    const Tensor y = layer_norm(first(x), norm->weight.value(), bias) + norm(x);
    return mean(y * y * x);
  }
};

/// Is trained by the gradient that it gives its input.
struct Penalty : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, 8};
  [[nodiscard]] Tensor forward(const Tensor& samples) const {
    Tensor x = samples.detach();
    x.set_requires_grad(true);
    const Tensor y = first(x);
    const Tensor total = sum(y * y);
    const Tensor slope = grad(std::array{total}, std::array{x}, {}, {.create_graph = true})[0];
    return mean(slope * slope);
  }
};

/// A critic with batch norm, whose penalty comes before its other uses.
struct Critic : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, 6};
  nn::Child<nn::BatchNorm1d> norm{this, "norm", 6};
  nn::Child<nn::Linear> last{this, "last", 6, 1};
  [[nodiscard]] Tensor score(const Tensor& x) const { return last(tanh(norm(first(x)))); }
  [[nodiscard]] Tensor forward(const Tensor& samples) const {
    Tensor x = samples.detach();
    x.set_requires_grad(true);
    const Tensor total = sum(score(x));
    const Tensor slope = grad(std::array{total}, std::array{x}, {}, {.create_graph = true})[0];
    const Tensor penalty = mean(slope * slope);
    const Tensor real = score(samples), made = score(0.5 * samples);
    return penalty + mean(real * real) - mean(made * real);
  }
};

/// One whose layer in front of the norm saves its output and has another use behind it.
struct RepeatedCritic : nn::Module {
  nn::Child<nn::Linear> layer{this, "layer", kNumbers, kNumbers};
  nn::Child<nn::BatchNorm1d> norm{this, "norm", kNumbers};
  [[nodiscard]] Tensor forward(const Tensor& samples) const {
    Tensor x = samples.detach();
    x.set_requires_grad(true);
    const Tensor total = sum(tanh(layer(norm(tanh(layer(x))))));
    const Tensor slope = grad(std::array{total}, std::array{x}, {}, {.create_graph = true})[0];
    return mean(slope * slope);
  }
};

/// Token types of zeros, positions and a first state of its own.
struct Made : nn::Module {
  nn::Child<nn::Embedding> type{this, "type", 2, 4};
  nn::Child<nn::Embedding> place{this, "place", kNumbers, 4};
  nn::Child<nn::LSTM> lstm{this, "lstm", 4, 4, nn::RecurrentOptions{.batch_first = true}};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor ids = cast(zeros_like(x), DType::i64);
    const Tensor same = zeros(x.shape(), {.dtype = DType::i64});
    const Tensor in = unsqueeze(x, 2) * (type(ids) + type(same) + place(arange(kNumbers)));
    const Tensor y = lstm(in).first;
    return mean(y * y);
  }
};

/// Rows of parameters that positions out of the samples choose, in all ways of choosing.
struct Chosen : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, kNumbers};
  nn::Child<nn::Linear> table{this, "table", 4, 6, nn::LinearOptions{.bias = false}};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor rows = table->weight.value();
    const Tensor ids = cast(select(x, 1, 0) > 0, DType::i64);
    const Tensor y = index(rows, {ids}) + index_select(rows, 0, ids + 2) +
                     gather(rows, 0, expand(unsqueeze(ids, 1), {ids.size(0), 4}));
    const Tensor h = first(x);
    return mean(y * y * index(h, {Range{}, Range{1, 5}}) * index(h, {kRest, NewDim{}, 2}));
  }
};

/// Means over the samples, which exist once a microbatch, brought back to them.
struct Centered : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, 8};
  nn::Child<nn::Linear> second{this, "second", 8, 8, nn::LinearOptions{.bias = false}};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor y = first(x);
    const Tensor center = mean(y, {0});
    const Tensor scores = softmax(matmul(center, second->weight.value()), -1);
    const Tensor z = y - unsqueeze(center, 0);
    return mean(z * z) + 0.1 * sum(scores * scores * center);
  }
};

/// Writes to the samples and to what exists once a microbatch, by views of them.
struct Written : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, 8};
  nn::Child<nn::Linear> second{this, "second", 8, 8};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor y = first(x);
    const Tensor before = select(y, 1, 2);
    assign(y, {Range{}, 1}, 0.5);
    mul_(slice(y, 1, 2, 5), select(second->bias.value(), 0, 0));
    const Tensor center = mean(y, {0});
    const Tensor edge = select(center, 0, 7);
    mul_(slice(center, 0, 5, 8), 3.0);
    assign(center, {Range{0, 2}}, slice(second->bias.value(), 0, 2, 4));
    const Tensor z = second(y - unsqueeze(center, 0));
    return mean(z * z) + mean(before * before) + sum(center * edge);
  }
};

/// Weights with noise of their own in each microbatch, below a mean over what counts.
struct NoisyWeights : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kNumbers, 5};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    const Tensor weight = first->weight.value();
    const Tensor noisy = weight + 0.1 * randn_like(weight.detach());
    const Tensor target = cast(select(x, 1, 0) > 0, DType::i64);
    return cross_entropy(linear(x, noisy, first->bias.value()),
                         where(select(x, 1, 1) > 0.5, -100, target));
  }
};

template <class Model, class F>
Values train_drawing(std::int64_t at_once, const F& wrap) {
  set_seed(11);
  const auto model = nn::make<Model>();
  const Tensor x = randn({64, kNumbers});
  data::DataLoader loader(data::TensorDataset{x}, {.batch_size = 16,
                                                   .shuffle = true,
                                                   .join_epochs = true,
                                                   .steps = 4,
                                                   .grain = kGrain,
                                                   .at_once = at_once});
  [[maybe_unused]] const auto reducer = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  for (auto& [batch] : loader) {
    (*model)(batch).backward();
    optimizer.step();
  }
  return values_of(*model);
}

template <class Model>
void expect_same_weights() {
  const auto loop = [](std::int64_t at_once, const auto& wrap) {
    return train_drawing<Model>(at_once, wrap);
  };
  expect_same_bits_on_ranks(loop, kGrain, {1, 2, 3, 4, 8});
}

TEST(AnyNumberOfRanks, noise_for_each_sample) {
  expect_same_weights<Vae>();
}

TEST(AnyNumberOfRanks, noise_for_weights_of_each_microbatch) {
  expect_same_weights<NoisyWeights>();
}

TEST(AnyNumberOfRanks, a_model_called_several_times) {
  expect_same_weights<Siamese>();
}

TEST(AnyNumberOfRanks, a_model_called_three_times_whose_uses_differ_in_size) {
  expect_same_weights<Triplet>();
}

TEST(AnyNumberOfRanks, a_bias_that_is_used_twice) {
  expect_same_weights<SharedBias>();
}

TEST(AnyNumberOfRanks, gradients_of_gradients) {
  expect_same_weights<Penalty>();
}

TEST(AnyNumberOfRanks, gradients_of_gradients_through_batch_norm_before_other_uses) {
  expect_same_weights<Critic>();
  expect_same_weights<RepeatedCritic>();
}

TEST(AnyNumberOfRanks, rows_chosen_by_the_samples) {
  expect_same_weights<Chosen>();
}

TEST(AnyNumberOfRanks, means_over_the_samples) {
  expect_same_weights<Centered>();
}

TEST(AnyNumberOfRanks, writes_through_views) {
  expect_same_weights<Written>();
}

TEST(AnyNumberOfRanks, tensors_made_in_a_forward) {
  expect_same_weights<Made>();
}

}  // namespace
}  // namespace tessera::dist
