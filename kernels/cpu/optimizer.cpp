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

template <class Number>
ParameterRangeOf<Number> part(const ParameterRangeOf<Number>& r, std::int64_t first,
                              std::int64_t count) {
  const auto move = [first](auto* p) { return p == nullptr ? nullptr : p + first; };
  return {.parameter = r.parameter + first,
          .gradient = r.gradient + first,
          .states = {move(r.states[0]), move(r.states[1]), move(r.states[2])},
          .count = count};
}

/// Pieces of all ranges, in the order of how far into its range each lies: a thread that has the
/// first rows of every product then has the first part of every parameter, and of its gradient.
template <class Number>
std::vector<ParameterRangeOf<Number>> cut(std::span<const ParameterRangeOf<Number>> ranges) {
  struct Piece {
    double place;
    ParameterRangeOf<Number> range;
  };
  std::vector<Piece> pieces;
  pieces.reserve(ranges.size());
  for (const ParameterRangeOf<Number>& r : ranges) {
    for (std::int64_t i = 0; i < r.count; i += kPiece) {
      const std::int64_t count = std::min(kPiece, r.count - i);
      const double middle = static_cast<double>(i) + static_cast<double>(count) / 2;
      pieces.push_back({middle / static_cast<double>(r.count), part(r, i, count)});
    }
  }
  std::ranges::stable_sort(pieces, {}, &Piece::place);
  std::vector<ParameterRangeOf<Number>> sorted;
  sorted.reserve(pieces.size());
  std::ranges::transform(pieces, std::back_inserter(sorted), &Piece::range);
  return sorted;
}

template <class Number>
std::int64_t bytes_read(const ParameterRangeOf<Number>& r) {
  const auto states = std::ranges::count_if(r.states, [](const Number* p) { return p != nullptr; });
  return r.count * (2 + states) * static_cast<std::int64_t>(sizeof(Number));
}

/// Runs of pieces, each worth a task: many small ones cost one round of the pool, a few none.
template <class Number>
std::vector<std::span<const ParameterRangeOf<Number>>> deal_out(
    std::span<const ParameterRangeOf<Number>> pieces) {
  std::vector<std::span<const ParameterRangeOf<Number>>> tasks;
  std::int64_t left = 0;
  for (const ParameterRangeOf<Number>& piece : pieces) {
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

template <class Number, class Factors>
void run(void (*kernel)(const Factors&, const ParameterRangeOf<Number>&), const Factors& factors,
         std::span<const ParameterRangeOf<Number>> ranges) {
  const std::vector<ParameterRangeOf<Number>> pieces = cut<Number>(ranges);
  const auto tasks = deal_out<Number>(pieces);
  parallel_for(std::ssize(tasks), [&](std::int64_t i) {
    for (const ParameterRangeOf<Number>& piece : tasks[static_cast<std::size_t>(i)]) {
      kernel(factors, piece);
    }
  });
}

}  // namespace

template <class Number>
void adamw_step(const StepScalars& now, const AdamwStep::Attrs& s,
                ParameterRangesOf<Number> ranges) {
  const auto t = static_cast<double>(now.step);
  AdamWFactors<Number> f;
  f.keep = s.decoupled ? static_cast<Number>(1 - now.lr * s.weight_decay) : 1.0F;
  f.decay = s.decoupled ? Number(0) : static_cast<Number>(s.weight_decay);
  f.beta1 = static_cast<Number>(s.beta1);
  f.rest1 = static_cast<Number>(1 - s.beta1);
  f.beta2 = static_cast<Number>(s.beta2);
  f.rest2 = static_cast<Number>(1 - s.beta2);
  f.rate = static_cast<Number>(now.lr / (1 - std::pow(s.beta1, t)));
  f.root_scale = static_cast<Number>(1 / std::sqrt(1 - std::pow(s.beta2, t)));
  f.epsilon = static_cast<Number>(s.eps);
  f.gradient_scale = static_cast<Number>(now.gradient_scale);
  run<Number>(IsaTable<OptimizerTable>::get().of<Number>().adamw, f, ranges);
}

template <class Number>
void sgd_step(const StepScalars& now, const SgdStep::Attrs& s, ParameterRangesOf<Number> ranges) {
  SgdFactors<Number> f;
  f.rate = static_cast<Number>(now.lr);
  f.momentum = static_cast<Number>(s.momentum);
  f.rest = static_cast<Number>(1 - s.dampening);
  f.decay = static_cast<Number>(s.weight_decay);
  f.gradient_scale = static_cast<Number>(now.gradient_scale);
  f.nesterov = s.nesterov;
  f.first_step = now.step == 1;
  run<Number>(IsaTable<OptimizerTable>::get().of<Number>().sgd, f, ranges);
}

template <class Number>
void adagrad_step(const StepScalars& now, const AdagradStep::Attrs& s,
                  ParameterRangesOf<Number> ranges) {
  AdagradFactors<Number> f;
  f.rate = static_cast<Number>(now.lr / (1 + static_cast<double>(now.step - 1) * s.lr_decay));
  f.decay = static_cast<Number>(s.weight_decay);
  f.epsilon = static_cast<Number>(s.eps);
  f.initial = static_cast<Number>(s.initial_accumulator_value);
  f.gradient_scale = static_cast<Number>(now.gradient_scale);
  f.first_step = now.step == 1;
  run<Number>(IsaTable<OptimizerTable>::get().of<Number>().adagrad, f, ranges);
}

template <class Number>
void rmsprop_step(const StepScalars& now, const RmspropStep::Attrs& s,
                  ParameterRangesOf<Number> ranges) {
  RmspropFactors<Number> f;
  f.rate = static_cast<Number>(now.lr);
  f.alpha = static_cast<Number>(s.alpha);
  f.rest = static_cast<Number>(1 - s.alpha);
  f.epsilon = static_cast<Number>(s.eps);
  f.decay = static_cast<Number>(s.weight_decay);
  f.momentum = static_cast<Number>(s.momentum);
  f.gradient_scale = static_cast<Number>(now.gradient_scale);
  f.centered = s.centered;
  f.has_momentum = s.momentum != 0;
  run<Number>(IsaTable<OptimizerTable>::get().of<Number>().rmsprop, f, ranges);
}

template <class Number>
void lion_step(const StepScalars& now, const LionStep::Attrs& s, ParameterRangesOf<Number> ranges) {
  LionFactors<Number> f;
  f.rate = static_cast<Number>(now.lr);
  f.decay = static_cast<Number>(s.weight_decay);
  f.beta1 = static_cast<Number>(s.beta1);
  f.rest1 = static_cast<Number>(1 - s.beta1);
  f.beta2 = static_cast<Number>(s.beta2);
  f.rest2 = static_cast<Number>(1 - s.beta2);
  f.gradient_scale = static_cast<Number>(now.gradient_scale);
  run<Number>(IsaTable<OptimizerTable>::get().of<Number>().lion, f, ranges);
}

template <class Number>
void sum_of_squares(const Number* x, std::int64_t count, double* sums) {
  const auto kernel = IsaTable<OptimizerTable>::get().of<Number>().sum_of_squares;
  for_ranges(count, kSquareBlock, [&](std::int64_t first, std::int64_t n) {
    sums[first / kSquareBlock] = kernel(x + first, n);
  });
}

template <class Number>
using Ranges = ParameterRangesOf<Number>;
template void adamw_step<float>(const StepScalars&, const AdamwStep::Attrs&, Ranges<float>);
template void adamw_step<double>(const StepScalars&, const AdamwStep::Attrs&, Ranges<double>);
template void sgd_step<float>(const StepScalars&, const SgdStep::Attrs&, Ranges<float>);
template void sgd_step<double>(const StepScalars&, const SgdStep::Attrs&, Ranges<double>);
template void adagrad_step<float>(const StepScalars&, const AdagradStep::Attrs&, Ranges<float>);
template void adagrad_step<double>(const StepScalars&, const AdagradStep::Attrs&, Ranges<double>);
template void rmsprop_step<float>(const StepScalars&, const RmspropStep::Attrs&, Ranges<float>);
template void rmsprop_step<double>(const StepScalars&, const RmspropStep::Attrs&, Ranges<double>);
template void lion_step<float>(const StepScalars&, const LionStep::Attrs&, Ranges<float>);
template void lion_step<double>(const StepScalars&, const LionStep::Attrs&, Ranges<double>);
template void sum_of_squares(const float*, std::int64_t, double*);
template void sum_of_squares(const double*, std::int64_t, double*);

}  // namespace tessera::cpu
