#include <tessera/kernels/cpu/optimizer.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/optimizer.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kPiece = 65536;

// What a task reads at least: less lies in the caller's own cache, and another core would first
// have to fetch it from there.
constexpr std::int64_t kBytesWorthATask = std::int64_t{512} << 10;

ParameterRange part(const ParameterRange& r, std::int64_t first, std::int64_t count) {
  const auto move = [first](auto* p) { return p == nullptr ? nullptr : p + first; };
  return {.parameter = r.parameter + first,
          .gradient = r.gradient + first,
          .states = {move(r.states[0]), move(r.states[1]), move(r.states[2])},
          .count = count};
}

/// Pieces of all ranges, in the order of how far into its range each lies: a thread that has the
/// first rows of every product then has the first part of every parameter, and of its gradient.
std::vector<ParameterRange> cut(std::span<const ParameterRange> ranges) {
  struct Piece {
    double place;
    ParameterRange range;
  };
  std::vector<Piece> pieces;
  pieces.reserve(ranges.size());
  for (const ParameterRange& r : ranges) {
    for (std::int64_t i = 0; i < r.count; i += kPiece) {
      const std::int64_t count = std::min(kPiece, r.count - i);
      const double middle = static_cast<double>(i) + static_cast<double>(count) / 2;
      pieces.push_back({middle / static_cast<double>(r.count), part(r, i, count)});
    }
  }
  std::ranges::stable_sort(pieces, {}, &Piece::place);
  std::vector<ParameterRange> sorted;
  sorted.reserve(pieces.size());
  std::ranges::transform(pieces, std::back_inserter(sorted), &Piece::range);
  return sorted;
}

std::int64_t bytes_read(const ParameterRange& r) {
  const auto states = std::ranges::count_if(r.states, [](const float* p) { return p != nullptr; });
  return r.count * (2 + states) * static_cast<std::int64_t>(sizeof(float));
}

/// Runs of pieces, each worth a task: many small ones cost one round of the pool, a few none.
std::vector<std::span<const ParameterRange>> deal_out(std::span<const ParameterRange> pieces) {
  std::vector<std::span<const ParameterRange>> tasks;
  std::int64_t left = 0;
  for (const ParameterRange& piece : pieces) {
    left += bytes_read(piece);
  }
  std::int64_t taken = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    taken += bytes_read(pieces[i]);
    if (taken >= kBytesWorthATask && left - taken >= kBytesWorthATask) {
      tasks.push_back(pieces.subspan(first, i + 1 - first));
      left -= std::exchange(taken, 0);
      first = i + 1;
    }
  }
  tasks.push_back(pieces.subspan(first));
  return tasks;
}

template <class Factors>
void run(void (*kernel)(const Factors&, const ParameterRange&), const Factors& factors,
         std::span<const ParameterRange> ranges) {
  const std::vector<ParameterRange> pieces = cut(ranges);
  const auto tasks = deal_out(pieces);
  parallel_for(std::ssize(tasks), [&](std::int64_t i) {
    for (const ParameterRange& piece : tasks[static_cast<std::size_t>(i)]) {
      kernel(factors, piece);
    }
  });
}

}  // namespace

void adamw_step(const AdamwStep::Attrs& s, std::span<const ParameterRange> ranges) {
  const auto t = static_cast<double>(s.step);
  AdamWFactors f;
  f.keep = s.decoupled ? static_cast<float>(1 - s.lr * s.weight_decay) : 1.0F;
  f.decay = s.decoupled ? 0.0F : static_cast<float>(s.weight_decay);
  f.beta1 = static_cast<float>(s.beta1);
  f.rest1 = static_cast<float>(1 - s.beta1);
  f.beta2 = static_cast<float>(s.beta2);
  f.rest2 = static_cast<float>(1 - s.beta2);
  f.rate = static_cast<float>(s.lr / (1 - std::pow(s.beta1, t)));
  f.root_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(s.beta2, t)));
  f.epsilon = static_cast<float>(s.eps);
  f.gradient_scale = static_cast<float>(s.gradient_scale);
  run(IsaTable<OptimizerTable>::get().adamw, f, ranges);
}

void sgd_step(const SgdStep::Attrs& s, std::span<const ParameterRange> ranges) {
  SgdFactors f;
  f.rate = static_cast<float>(s.lr);
  f.momentum = static_cast<float>(s.momentum);
  f.rest = static_cast<float>(1 - s.dampening);
  f.decay = static_cast<float>(s.weight_decay);
  f.gradient_scale = static_cast<float>(s.gradient_scale);
  f.nesterov = s.nesterov;
  f.first_step = s.first;
  run(IsaTable<OptimizerTable>::get().sgd, f, ranges);
}

void adagrad_step(const AdagradStep::Attrs& s, std::span<const ParameterRange> ranges) {
  AdagradFactors f;
  f.rate = static_cast<float>(s.lr / (1 + static_cast<double>(s.step - 1) * s.lr_decay));
  f.decay = static_cast<float>(s.weight_decay);
  f.epsilon = static_cast<float>(s.eps);
  f.initial = static_cast<float>(s.initial_accumulator_value);
  f.gradient_scale = static_cast<float>(s.gradient_scale);
  f.first_step = s.step == 1;
  run(IsaTable<OptimizerTable>::get().adagrad, f, ranges);
}

void rmsprop_step(const RmspropStep::Attrs& s, std::span<const ParameterRange> ranges) {
  RmspropFactors f;
  f.rate = static_cast<float>(s.lr);
  f.alpha = static_cast<float>(s.alpha);
  f.rest = static_cast<float>(1 - s.alpha);
  f.epsilon = static_cast<float>(s.eps);
  f.decay = static_cast<float>(s.weight_decay);
  f.momentum = static_cast<float>(s.momentum);
  f.gradient_scale = static_cast<float>(s.gradient_scale);
  f.centered = s.centered;
  f.has_momentum = s.momentum != 0;
  run(IsaTable<OptimizerTable>::get().rmsprop, f, ranges);
}

void lion_step(const LionStep::Attrs& s, std::span<const ParameterRange> ranges) {
  LionFactors f;
  f.rate = static_cast<float>(s.lr);
  f.decay = static_cast<float>(s.weight_decay);
  f.beta1 = static_cast<float>(s.beta1);
  f.rest1 = static_cast<float>(1 - s.beta1);
  f.beta2 = static_cast<float>(s.beta2);
  f.rest2 = static_cast<float>(1 - s.beta2);
  f.gradient_scale = static_cast<float>(s.gradient_scale);
  run(IsaTable<OptimizerTable>::get().lion, f, ranges);
}

void sum_of_squares(const float* x, std::int64_t count, double* sums) {
  const auto kernel = IsaTable<OptimizerTable>::get().sum_of_squares;
  for_ranges(count, kSquareBlock, [&](std::int64_t first, std::int64_t n) {
    sums[first / kSquareBlock] = kernel(x + first, n);
  });
}

}  // namespace tessera::cpu
