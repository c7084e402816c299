// A small model whose parameters are used in every way that matters to a gradient's bits, and the
// passes of a step over it.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/reduce/tree.h>
#include <tessera/nn/module.h>

#include "support/sizes.h"

namespace tessera::dist::toy {

inline constexpr std::int64_t kSamples = 16;  // in a global batch
inline constexpr std::int64_t kWidth = 5;

/// All microbatches of a global batch, on one rank.
inline const std::vector<TreeLeaf> kAll{{.rank = 0, .block = 0, .first = 0, .size = kGrain}};

inline void fill_uniform(const Tensor& value, const Box&, const RandomStream& stream) {
  float* data = value.data<float>();
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    data[i] = to_uniform(stream.word(static_cast<std::uint64_t>(i))) - 0.5F;
  }
}

/// A parameter with one direct use, one with two uses, embeddings of samples, out of few rows and
/// of many, and of positions, and a parameter that nobody uses.
struct Model : nn::Module {
  nn::Parameter positions{this, "positions", {3, kWidth}, fill_uniform};
  nn::Parameter table{this, "table", {7, kWidth}, fill_uniform};
  nn::Parameter wide{this, "wide", {100, kWidth}, fill_uniform};
  nn::Parameter once{this, "once", {kWidth}, fill_uniform};
  nn::Parameter twice{this, "twice", {kWidth}, fill_uniform};
  nn::Parameter unused{this, "unused", {3}, fill_uniform};
  Tensor forward(const Tensor& ids) const {
    const Tensor places = arange(3);
    const Tensor x = (embedding(table, ids) + embedding(wide, ids) + embedding(positions, places)) *
                     twice.value();
    return sum_to((x + once.value()) * twice.value() * x, {});
  }
};

inline Tensor batch(std::int64_t first, std::int64_t count, std::int32_t parts) {
  Tensor x = empty({count, 3}, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < count; ++i) {  // a sample depends on its global index alone
    for (std::int64_t j = 0; j < 3; ++j) {
      x.data<std::int64_t>()[i * 3 + j] = ((first + i) * 3 + j * j + (first + i) * (first + i)) % 7;
    }
  }
  if (parts > 1) {
    x.get().set_microbatches({.count = parts, .dim = 0});
  }
  return x;
}

/// Calls `f(first sample, samples, microbatches)` in each pass over one rank's microbatches,
/// `at_once` of them a pass.
template <class F>
void for_each_pass(const std::vector<TreeLeaf>& blocks, std::int64_t at_once, const F& f) {
  const std::int64_t per = kSamples / kGrain;
  for (const TreeLeaf& block : blocks) {
    const std::int64_t step = std::min(at_once, block.size);
    for (std::int64_t m = block.first; m < block.first + block.size; m += step) {
      const bool last = m + step == blocks.back().first + blocks.back().size;
      Context::current().pass = {.grain = kGrain,
                                 .first = m,
                                 .count = step,
                                 .first_sample = m * per,
                                 .samples = step * per,
                                 .last = last};
      f(m * per, step * per, static_cast<std::int32_t>(step));
    }
  }
  Context::current().pass = {};
}

/// Runs the passes, each with `backwards` backwards on different samples.
template <class M>
void run_passes(const nn::Ptr<M>& model, const std::vector<TreeLeaf>& blocks, std::int64_t at_once,
                int backwards = 1) {
  for_each_pass(blocks, at_once, [&](std::int64_t first, std::int64_t count, std::int32_t parts) {
    for (int k = 0; k < backwards; ++k) {
      model(batch(k * 100 + first, count, parts)).backward();
    }
  });
}

using Gradients = std::vector<std::vector<float>>;

inline Gradients gradients_of(const nn::Module& model) {
  Gradients all;
  for (const nn::Parameter& p : model.parameters()) {
    all.push_back(p.grad().defined() ? p.grad().to_vector<float>() : std::vector<float>{});
  }
  return all;
}

/// The gradients of one process that runs all microbatches, `at_once` a pass.
inline Gradients alone(std::int64_t at_once) {
  const ContextScope one_process(std::make_shared<Context>());
  set_seed(3);
  const auto model = nn::make<Model>();
  run_passes(model, kAll, at_once);
  return gradients_of(*model);
}

}  // namespace tessera::dist::toy
