// Parameters with several uses, and tensors that no sample had a part in, give the bits of passes
// of one microbatch and the gradient of the batch in one piece.
#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>

#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>

#include "ops/gradients.h"
#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::Inputs;
using testing_support::numbers;
using Model = std::function<Tensor(const Inputs& parameters, const Inputs& batch)>;
using testing_support::error_of;

constexpr std::int64_t kSamples = 8;

/// Same bits for all passes; and in f64 each gradient is near the mean over microbatches of those
/// of a step in one piece, which knows no microbatches.
void expect_right(const Model& f, const Inputs& parameters, const Inputs& batch) {
  testing_support::expect_same_bits_for_all_passes(f, parameters, batch, 4);
  const testing_support::StepResult whole = testing_support::run_step(f, parameters, batch, 1, 1);
  const testing_support::StepResult cut = testing_support::run_step(f, parameters, batch, 4, 4);
  for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
    for (std::size_t j = 0; j < whole.gradients[i].size(); ++j) {
      EXPECT_NEAR(cut.gradients[i][j], whole.gradients[i][j], 1e-5) << "parameter " << i;
    }
  }
}

/// A mean over samples, so that microbatches of any number add up to the same.
Tensor weighted_loss(const Tensor& y) {
  return mean(y * y * numbers({y.size(-1)}, 5, y.dtype()));
}

Inputs weights(std::initializer_list<Shape> shapes) {
  Inputs all;
  for (const Shape& shape : shapes) {
    all.push_back(numbers(shape, 10 + all.size(), DType::f32));
  }
  return all;
}

Inputs batch_of(const Shape& shape) {
  return {numbers(shape, 1, DType::f32), numbers(shape, 2, DType::f32)};
}

TEST(SeveralUses, of_a_linear_layer) {
  const Model siamese = [](const Inputs& p, const Inputs& in) {
    const Tensor a = linear(tanh(linear(in[0], p[0], p[1])), p[2]);
    const Tensor b = linear(tanh(linear(in[1], p[0], p[1])), p[2]);
    return weighted_loss(a - b);
  };
  expect_right(siamese, weights({{6, 5}, {6}, {4, 6}}), batch_of({kSamples, 5}));
  expect_right(siamese, weights({{6, 5}, {6}, {4, 6}}), batch_of({kSamples, 3, 5}));
}

TEST(SeveralUses, one_behind_the_other) {
  const Model recurrent = [](const Inputs& p, const Inputs& in) {
    Tensor h = in[0];
    for (int step = 0; step < 5; ++step) {
      h = tanh(linear(h, p[0]) + in[1]);
    }
    return weighted_loss(h);
  };
  expect_right(recurrent, weights({{5, 5}}), batch_of({kSamples, 5}));
}

TEST(SeveralUses, of_a_matrix_on_either_side) {
  const Model tied = [](const Inputs& p, const Inputs& in) {
    const Tensor code = tanh(matmul(in[0], p[0]));
    return weighted_loss(matmul(code, p[0], false, true) - in[1]) +
           weighted_loss(matmul(in[1], p[0]));
  };
  expect_right(tied, weights({{5, 6}}), batch_of({kSamples, 5}));
}

TEST(SeveralUses, of_a_convolution) {
  const Model siamese = [](const Inputs& p, const Inputs& in) {
    const auto net = [&](const Tensor& x) { return tanh(convolution(x, p[0], p[1])); };
    return weighted_loss(net(in[0]) - net(in[1]));
  };
  expect_right(siamese, weights({{4, 3, 3, 3}, {4}}), batch_of({kSamples, 3, 6, 6}));
  const Model sizes = [](const Inputs& p, const Inputs& in) {
    const auto net = [&](const Tensor& x) { return mean(tanh(convolution(x, p[0])), {2, 3}); };
    return weighted_loss(net(in[0]) - net(slice(in[1], 3, 0, 4)));
  };
  expect_right(sizes, weights({{4, 3, 3, 3}}), batch_of({kSamples, 3, 6, 6}));
}

TEST(SeveralUses, by_different_ops_and_in_different_layouts) {
  const Model mixed = [](const Inputs& p, const Inputs& in) {
    const Tensor rows = linear(in[0], p[0]);                        // (samples, 3, 6)
    const Tensor times = linear(transpose(in[1], 0, 1), p[0]);      // (3, samples, 6)
    const Tensor scaled = mean(in[0], {1}) * slice(p[0], 0, 0, 1);  // elementwise
    const Tensor flat = linear(mean(in[1], {1}), p[0]);             // (samples, 6)
    return weighted_loss(rows) + weighted_loss(times) + weighted_loss(scaled) + weighted_loss(flat);
  };
  expect_right(mixed, weights({{6, 5}}), batch_of({kSamples, 3, 5}));
}

TEST(SeveralUses, on_what_no_sample_had_a_part_in) {
  const Model whole = [](const Inputs& p, const Inputs& in) {
    const Tensor table = numbers({3, 5}, 9, DType::f32);
    const Tensor y = linear(in[0], p[0]) + linear(table, p[0]);
    return weighted_loss(y) + mean(linear(table, p[0]) * 0.5);
  };
  expect_right(whole, weights({{6, 5}}), batch_of({kSamples, 3, 5}));
}

TEST(SeveralUses, of_what_exists_once_a_microbatch) {
  // The mean over samples is one vector a microbatch: ops run on each alone.
  const Model statistics = [](const Inputs& p, const Inputs& in) {
    const Tensor code = linear(tanh(mean(in[0], {0})), p[0], p[1]);
    return weighted_loss(code) + weighted_loss(linear(in[1], p[0], p[1])) +
           weighted_loss(linear(code, p[2]));
  };
  const Inputs parameters = weights({{5, 5}, {5}, {4, 5}});
  testing_support::expect_same_bits_for_all_passes(statistics, parameters, batch_of({kSamples, 5}),
                                                   4);
}

TEST(SeveralUses, from_a_first_state_of_zeros) {
  const Model recurrent = [](const Inputs& p, const Inputs& in) {
    Tensor h = zeros({in[0].size(0), 5});
    for (int step = 0; step < 3; ++step) {
      h = tanh(linear(in[step % 2], p[0]) + linear(h, p[1]));
    }
    return weighted_loss(h);
  };
  expect_right(recurrent, weights({{5, 5}, {5, 5}}), batch_of({kSamples, 5}));
}

TEST(SeveralUses, of_a_function_of_a_weight) {
  const Model bounded = [](const Inputs& p, const Inputs& in) {
    return weighted_loss(linear(in[0], tanh(p[0])) + in[1] * tanh(p[1]));
  };
  expect_right(bounded, weights({{25, 25}, {25}}), batch_of({kSamples, 25}));
}

TEST(SeveralUses, of_a_table_behind_an_op) {
  const Model scaled = [](const Inputs& p, const Inputs& in) {
    const Tensor ids = cast((in[0] + 1) * 4, DType::i64);
    return weighted_loss(embedding(p[0] * 0.3, ids)) + weighted_loss(linear(in[1], p[0]));
  };
  expect_right(scaled, weights({{9, 5}}), batch_of({kSamples, 5}));
}

TEST(SeveralUses, two_roots_of_which_one_knows_no_samples) {
  const auto gradient = [](int at_once) {
    const ContextScope context(std::make_shared<Context>());
    const Tensor w = numbers({6, 5}, 3, DType::f32).set_requires_grad(true);
    const Tensor batch = numbers({kSamples, 5}, 1, DType::f32);
    for (int m = 0; m < 4; m += at_once) {
      Context::current().pass = {.grain = 4,
                                 .first = m,
                                 .count = at_once,
                                 .first_sample = 2 * m,
                                 .samples = 2 * at_once,
                                 .last = m + at_once == 4};
      const Tensor x = testing_support::rows_of(batch, 2 * m, 2 * at_once, at_once);
      const std::array roots{mean(linear(x, w) * linear(x, w)), mean(w * w)};
      backward(roots, std::array{Tensor(), Tensor()});
    }
    return w.grad().to_vector<float>();
  };
  const auto alone = gradient(1);
  EXPECT_EQ(gradient(2), alone);
  EXPECT_EQ(gradient(4), alone);
}

Tensor ids_of(const Tensor& x) {
  return cast((x + 1) * 4, DType::i64);
}

TEST(WithoutSamples, what_is_made_like_them_knows_their_borders) {
  const Model model = [](const Inputs& p, const Inputs& in) {
    const Tensor ids = ids_of(in[0]);
    const Tensor word = embedding(p[0], ids);
    const Tensor type = embedding(p[1], zeros_like(ids));
    const Tensor state = zeros_like(in[0], {in[0].size(0), 1, 6});
    return weighted_loss(word + type + linear(ones_like(word), p[2]) + state +
                         full_like(word, 0.5));
  };
  expect_right(model, weights({{9, 6}, {2, 6}, {6, 6}}), batch_of({kSamples, 3}));
}

TEST(WithoutSamples, what_is_as_long_as_the_pass_has_an_entry_a_sample) {
  const Model model = [](const Inputs& p, const Inputs& in) {
    const std::int64_t n = in[0].size(0);
    const Tensor ids = ids_of(in[0]);
    const Tensor zero = zeros(ids.shape(), {.dtype = DType::i64});
    const Tensor type = embedding(p[1], zero);
    const Tensor scale = tanh(linear(ones({n, 3, 6}), p[2]));
    const Tensor soft = softmax(linear(ones({n, 1, 6}), p[2]), 2);
    return weighted_loss((embedding(p[0], ids) + type) * scale * soft);
  };
  expect_right(model, weights({{9, 6}, {2, 6}, {6, 6}}), batch_of({kSamples, 3}));
}

TEST(WithoutSamples, ids_and_positions_lie_along_any_dim) {
  const Model model = [](const Inputs& p, const Inputs& in) {
    const Tensor ids = transpose(ids_of(in[0]), 0, 1);  // (3, samples)
    const Tensor place = embedding(p[1], unsqueeze(arange(3), 1));
    return weighted_loss(embedding(p[0], ids) + place + embedding(p[0], zeros_like(ids)));
  };
  expect_right(model, weights({{9, 6}, {3, 6}}), batch_of({kSamples, 3}));
}

Tensor cut_in_two(const Shape& shape) {
  Tensor x = numbers(shape, 4, DType::f32);
  x.get().set_microbatches({.count = 2, .dim = 0});
  return x;
}

void expect_ways_out(const std::string& text) {
  EXPECT_NE(text.find("grain = 1"), std::string::npos) << text;
  EXPECT_NE(text.find("at_once = 1"), std::string::npos) << text;
}

TEST(WithoutSamples, a_leaf_as_long_as_the_pass_is_refused) {
  const Tensor leaf = numbers({4, 3}, 1, DType::f32).set_requires_grad(true);
  expect_ways_out(error_of<Unsupported>([&] { mean(cut_in_two({4, 3}) * leaf).backward(); }));
  const Tensor like = zeros_like(cut_in_two({4, 3})).set_requires_grad(true);
  EXPECT_NO_THROW(mean(cut_in_two({4, 3}) * like).backward());
}

TEST(WithoutSamples, one_entry_a_sample_for_some_uses_only_is_refused) {
  const Tensor w = numbers({3, 3}, 1, DType::f32).set_requires_grad(true);
  const Tensor table = linear(ones({4, 3}), w);
  const Tensor x = cut_in_two({4, 3});
  expect_ways_out(error_of<Unsupported>(
      [&] { (mean(x * table) + mean(matmul(x, table, false, true))).backward(); }));
}

TEST(InBatchNegatives, are_refused_with_ways_out) {
  const Tensor a = cut_in_two({4, 3});
  const Tensor b = cut_in_two({4, 3});
  const Tensor labels = arange(4);
  const std::vector<std::function<Tensor()>> similarities{
      [&] { return matmul(a, b, false, true); },
      [&] { return matmul(a, transpose(b, 0, 1)); },
      [&] { return linear(a, b); },
      [&] { return mean(unsqueeze(a, 1) * unsqueeze(b, 0), {2}); },
      [&] { return cross_entropy(matmul(a, a, false, true), labels); },
      [&] { return matmul(a, b.detach(), false, true); },
      [&] { return softmax(a, 0); },
  };
  for (std::size_t i = 0; i < similarities.size(); ++i) {
    SCOPED_TRACE(i);
    expect_ways_out(error_of<Unsupported>([&] { static_cast<void>(similarities[i]()); }));
  }
}

/// Similarities of a batch's samples with each other, in the first pass of one of four ranks.
void compare_all(std::int64_t grain, std::int64_t at_once) {
  const ContextScope context(std::make_shared<Context>());
  data::DataLoader loader{data::TensorDataset{numbers({16, 3}, 1, DType::f32)},
                          {.batch_size = 16, .grain = grain, .at_once = at_once, .ranks = 4}};
  for (auto& [x] : loader) {
    const Tensor w = numbers({3, 3}, 2, DType::f32).set_requires_grad(true);
    const Tensor y = linear(x, w);
    mean(y * y).backward();
    EXPECT_EQ(w.grad().shape(), (Shape{3, 3}));
    static_cast<void>(matmul(y, x, false, true));
  }
}

TEST(InBatchNegatives, are_refused_where_ranks_have_one_microbatch_each) {
  expect_ways_out(error_of<Unsupported>([] { compare_all(4, 0); }));
  expect_ways_out(error_of<Unsupported>([] { compare_all(8, 0); }));
  EXPECT_EQ(error_of<Unsupported>([] { compare_all(4, 1); }), "no error");
}

}  // namespace
}  // namespace tessera
