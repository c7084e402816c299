// A block of a GPT against the same formulas in plain loops over doubles.
#include <tessera/nn/layers/transformer_block.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/normal.h>

namespace tessera::nn {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Weights by name, as doubles.
struct Weights {
  std::map<std::string, std::vector<double>> values;

  explicit Weights(const Module& module) {
    for (const auto& [name, value] : module.state_dict()) {
      values[name] = value.tensor().to_vector<double>();
    }
  }
  [[nodiscard]] Matrix linear(const std::string& name, const Matrix& x) const {
    const auto& weight = values.at(name + ".weight");
    const auto& bias = values.at(name + ".bias");
    Matrix y(x.size(), bias);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t o = 0; o < bias.size(); ++o) {
        for (std::size_t i = 0; i < x[t].size(); ++i) {
          y[t][o] += weight[o * x[t].size() + i] * x[t][i];
        }
      }
    }
    return y;
  }
  [[nodiscard]] Matrix norm(const std::string& name, Matrix x) const {
    for (auto& row : x) {
      double mean = 0;
      double variance = 0;
      for (const double v : row) {
        mean += v / static_cast<double>(row.size());
      }
      for (const double v : row) {
        variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      }
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * values.at(name + ".weight")[i] +
                 values.at(name + ".bias")[i];
      }
    }
    return x;
  }
};

/// One head: columns [q, q + size) of `qkv` are its queries, and so on; adds to columns of `y`.
void attend(const Matrix& qkv, std::size_t q, std::size_t k, std::size_t v, std::size_t size,
            Matrix& y) {
  for (std::size_t t = 0; t < qkv.size(); ++t) {
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      double score = 0;
      for (std::size_t i = 0; i < size; ++i) {
        score += qkv[t][q + i] * qkv[s][k + i];
      }
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
      sum += weights.back();
    }
    for (std::size_t s = 0; s <= t; ++s) {
      for (std::size_t i = 0; i < size; ++i) {
        y[t][q + i] += weights[s] / sum * qkv[s][v + i];
      }
    }
  }
}

Matrix attention_of(const Weights& w, const std::string& name, const Matrix& x, std::size_t heads,
                    std::size_t kv_heads) {
  const std::size_t width = x[0].size();
  const std::size_t size = width / heads;
  const Matrix qkv = w.linear(name + "c_attn", x);
  Matrix y(x.size(), std::vector<double>(width, 0));
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t shared = h / (heads / kv_heads) * size;
    attend(qkv, h * size, width + shared, width + kv_heads * size + shared, size, y);
  }
  return w.linear(name + "c_proj", y);
}

Matrix block_of(const Weights& w, Matrix x, std::size_t heads) {
  const auto add = [&](const Matrix& branch) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < x[t].size(); ++i) {
        x[t][i] += branch[t][i];
      }
    }
  };
  add(attention_of(w, "attn.", w.norm("ln_1", x), heads, heads));
  Matrix hidden = w.linear("mlp.c_fc", w.norm("ln_2", x));
  for (auto& row : hidden) {
    for (double& v : row) {
      v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
    }
  }
  add(w.linear("mlp.c_proj", hidden));
  return x;
}

constexpr std::int64_t kTime = 5;

Tensor random_input(std::int64_t batch, std::int64_t width) {
  const Tensor x = empty({batch, kTime, width});
  init::normal(0, 1)(x, Box::all_of(x.shape()), {.key = 3});
  return x;
}

Matrix sample_of(const Tensor& x, std::size_t sample) {
  const auto values = x.to_vector<double>();
  const auto width = static_cast<std::size_t>(x.size(-1));
  Matrix rows;
  for (std::size_t t = 0; t < kTime; ++t) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>((sample * kTime + t) * width);
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

void expect_sample(const Tensor& got, std::size_t sample, const Matrix& expected) {
  const Matrix rows = sample_of(got, sample);
  for (std::size_t t = 0; t < expected.size(); ++t) {
    for (std::size_t i = 0; i < expected[t].size(); ++i) {
      EXPECT_NEAR(rows[t][i], expected[t][i], 2e-5) << sample << ' ' << t << ' ' << i;
    }
  }
}

TEST(TransformerBlock, computes_what_its_formulas_say) {
  set_seed(4);
  const auto block =
      make<TransformerBlock>(8, 2, TransformerBlockOptions{.bias_init = init::normal(0, 0.5)});
  const Tensor x = random_input(2, 8);
  const Tensor y = block(x);
  for (const std::size_t sample : {0U, 1U}) {
    expect_sample(y, sample, block_of(Weights(*block), sample_of(x, sample), 2));
  }
}

TEST(TransformerBlock, has_the_names_of_nanogpt) {
  const auto block = make<TransformerBlock>(8, 2);
  std::ostringstream names;
  for (const auto& [name, parameter] : block->named_parameters()) {
    names << name << parameter.shape() << ' ';
  }
  EXPECT_EQ(names.str(),
            "ln_1.weight(8,) ln_1.bias(8,) attn.c_attn.weight(24, 8) attn.c_attn.bias(24,) "
            "attn.c_proj.weight(8, 8) attn.c_proj.bias(8,) ln_2.weight(8,) ln_2.bias(8,) "
            "mlp.c_fc.weight(32, 8) mlp.c_fc.bias(32,) mlp.c_proj.weight(8, 32) "
            "mlp.c_proj.bias(8,) ");
  const auto plain = make<TransformerBlock>(8, 2, TransformerBlockOptions{.bias = false});
  EXPECT_EQ(plain->named_parameters().size(), 6U);
}

TEST(TransformerBlock, gives_every_parameter_a_gradient) {
  set_seed(4);
  const auto block = make<TransformerBlock>(8, 2, TransformerBlockOptions{.dropout = 0.1});
  const Tensor y = block(random_input(2, 8));
  y.backward(ones(y.shape()));
  for (const auto& [name, parameter] : block->named_parameters()) {
    EXPECT_TRUE(parameter.grad().defined()) << name;
  }
}

TEST(TransformerBlock, drops_out_in_training_alone) {
  set_seed(4);
  const auto block = make<TransformerBlock>(8, 2, TransformerBlockOptions{.dropout = 0.5});
  const Tensor x = random_input(1, 8);
  EXPECT_NE(block(x).to_vector<float>(), block(x).to_vector<float>());
  block->eval();
  EXPECT_EQ(block(x).to_vector<float>(), block(x).to_vector<float>());
}

TEST(CausalSelfAttention, shares_keys_and_values_among_heads) {
  set_seed(4);
  struct Holder : Module {
    Child<CausalSelfAttention> attn{this, "attn", 8, 4, AttentionLayerOptions{.kv_heads = 2}};
    [[nodiscard]] Tensor forward(const Tensor& x) const { return attn(x); }
  };
  const auto holder = make<Holder>();
  const Tensor x = random_input(1, 8);
  expect_sample(holder(x), 0, attention_of(Weights(*holder), "attn.", sample_of(x, 0), 4, 2));
}

TEST(CausalSelfAttention, names_widths_and_heads_that_work) {
  try {
    make<CausalSelfAttention>(100, 8);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("got width 100 and heads 8, expected width 96 "
                                                   "or 104, or heads 5 or 10"));
  }
  EXPECT_THROW(make<CausalSelfAttention>(8, 4, AttentionLayerOptions{.kv_heads = 3}),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
