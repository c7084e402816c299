#include <tessera/kernels/cpu/recurrent.h>

#include <algorithm>

#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/ops/support/recurrent.h>
#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kFlopsWorthTasks = std::int64_t{1} << 19;

/// Kernels for calls whose states and sums are Numbers.
template <class Number>
struct RecurrentKernels {
  const ProductKernelOf<Number>& product;
  void (*forward)(const RecurrentForwardOf<Number>&, const RecurrentUnitsOf<Number>&);
  void (*backward)(const RecurrentBackwardOf<Number>&, const RecurrentUnitsOf<Number>&, bool);
  void (*to_words)(const Number*, std::int64_t, WordOf<Number>*);
};

template <class Number>
RecurrentKernels<Number> kernels_for(DType dtype) {
  const auto& table = IsaTable<RecurrentTable>::get();
  if constexpr (sizeof(Number) == sizeof(double)) {
    const RecurrentTableF64& f64 = table.f64;
    return {f64.kernel, f64.forward, f64.backward, f64.to_words};
  } else {
    const std::size_t i = dtype_index(dtype);
    return {table.kernel[i], table.forward[i], table.backward[i], table.to_words[i]};
  }
}

/// The weights of a call, packed, and the factors of two steps that follow each other.
template <class Number>
class Walk {
  using Word = WordOf<Number>;

 public:
  /// `backwards`: sums are over the gates' units, not over the hidden state's.
  Walk(const RecurrentCall& call, bool backwards)
      : call_(call),
        kernel_(kernels_for<Number>(call.dtype).product),
        words_(kernel_.words_of(call.width)),
        panels_(divide_up(call.width, kernel_.columns)),
        row_words_(words_ * (backwards ? call.gates() : 1)),
        packed_(memory_for(call.gates() * panels_ * words_ * kernel_.columns)),
        step_words_(round_up(call.batch, kernel_.rows) * row_words_),
        factors_(memory_for(2 * step_words_)),
        hidden_(memory_for(call.batch * call.width)),
        cell_(memory_for(call.batch * call.width)) {
    pack(backwards);
    std::fill_n(factors_.as<Word>(), 2 * step_words_, Word(0));
  }

  [[nodiscard]] Number* hidden() const { return hidden_.as<Number>(); }
  [[nodiscard]] Number* cell() const { return cell_.as<Number>(); }

  /// The factors of the first step, from hidden().
  void begin_with_states() {
    const auto to_words = kernels_for<Number>(call_.dtype).to_words;
    for (std::int64_t b = 0; b < call_.batch; ++b) {
      to_words(hidden() + b * call_.width, call_.width, current() + b * row_words_);
    }
    has_factors_ = true;
  }

  /// Calls f(units) for all units, by panels, of a step. A thread is likely to get the same run of
  /// panels again in the next step, which are in its own cache then.
  template <class F>
  void step(std::int64_t time, const F& f) {
    const auto run = [&](std::int64_t panel, std::int64_t next) {
      RecurrentUnitsOf<Number> units;
      units.time = time;
      units.first = panel * kernel_.columns;
      units.count = std::min<std::int64_t>(kernel_.columns, call_.width - units.first);
      units.words = words_;
      units.panel = packed_.as<Word>() + panel * words_ * kernel_.columns;
      units.next_panel = packed_.as<Word>() + next * words_ * kernel_.columns;
      units.panel_step = panels_ * words_ * kernel_.columns;
      units.factors = has_factors_ ? current() : nullptr;
      units.next_factors = factors_.as<Word>() + (1 - turn_) * step_words_;
      units.hidden = hidden(), units.cell = cell();
      f(units);
    };
    const std::int64_t parts = flops_of_step() < kFlopsWorthTasks ? 1 : num_threads();
    parallel_for(parts, [&](std::int64_t part) {
      if (kernel_.begin != nullptr) {
        kernel_.begin();
      }
      const std::int64_t begin = part * panels_ / parts, end = (part + 1) * panels_ / parts;
      for (std::int64_t i = begin; i < end; ++i) {
        run(i, i + 1 < end ? i + 1 : begin);
      }
    });
    turn_ = 1 - turn_;
    has_factors_ = true;
  }

 private:
  static HeldMemory memory_for(std::int64_t count) {
    return HeldMemory(static_cast<std::size_t>(count) * sizeof(Word));
  }
  [[nodiscard]] Word* current() const { return factors_.as<Word>() + turn_ * step_words_; }

  [[nodiscard]] std::int64_t flops_of_step() const {
    return 2 * call_.batch * call_.gates() * call_.width * call_.width;
  }

  void pack(bool backwards) {
    const Matrix& w = call_.weight;
    const auto element = static_cast<std::int64_t>(size_of(w.dtype));
    parallel_for(call_.gates() * panels_, [&](std::int64_t task) {
      const std::int64_t gate = task / panels_;
      const std::int64_t first = task % panels_ * kernel_.columns;
      const std::int64_t across = backwards ? w.column_stride : w.row_stride;
      const std::int64_t along = backwards ? w.row_stride : w.column_stride;
      const std::int64_t at = gate * call_.width * w.row_stride + first * across;
      kernel_.pack_columns(
          {static_cast<const char*>(w.data) + at * element, w.dtype, across, along,
           std::min<std::int64_t>(kernel_.columns, call_.width - first), call_.width},
          packed_.as<Word>() + task * words_ * kernel_.columns);
    });
  }

  const RecurrentCall& call_;
  const ProductKernelOf<Number>& kernel_;
  std::int64_t words_, panels_, row_words_;
  HeldMemory packed_;
  std::int64_t step_words_;  ///< of the factors of all sequences
  HeldMemory factors_, hidden_, cell_;
  std::int64_t turn_ = 0;
  bool has_factors_ = false;
};

template <class Number>
void copy_or_zero(const Number* from, Number* to, std::int64_t count) {
  if (from == nullptr) {
    std::fill_n(to, count, Number(0));
  } else {
    std::copy_n(from, count, to);
  }
}

}  // namespace

bool RecurrentCall::past_caches() const {
  const std::int64_t values = batch * steps * kept() * width;
  return dtype != DType::bf16 &&
         outlives_caches_long(values * static_cast<std::int64_t>(size_of(dtype)));
}

template <class Number>
void recurrent_forward(const RecurrentForwardOf<Number>& call) {
  const std::int64_t states = call.batch * call.width;
  const auto run = kernels_for<Number>(call.dtype).forward;
  Walk<Number> walk(call, false);
  copy_or_zero(call.start, walk.hidden(), states);
  copy_or_zero(call.start_cell, walk.cell(), states);
  walk.begin_with_states();
  for (std::int64_t n = 0; n < call.steps; ++n) {
    walk.step(time_of(n, call.steps, call.reverse),
              [&](const RecurrentUnitsOf<Number>& units) { run(call, units); });
  }
  std::copy_n(walk.hidden(), states, call.last);
  if (call.last_cell != nullptr) {
    std::copy_n(walk.cell(), states, call.last_cell);
  }
}

template <class Number>
void recurrent_backward(const RecurrentBackwardOf<Number>& call) {
  const std::int64_t states = call.batch * call.width;
  const auto run = kernels_for<Number>(call.dtype).backward;
  Walk<Number> walk(call, true);
  copy_or_zero(call.last, walk.hidden(), states);
  copy_or_zero(call.last_cell, walk.cell(), states);
  for (std::int64_t n = call.steps; n-- > 0;) {
    walk.step(time_of(n, call.steps, call.reverse),
              [&](const RecurrentUnitsOf<Number>& units) { run(call, units, false); });
  }
  walk.step(0, [&](const RecurrentUnitsOf<Number>& units) { run(call, units, true); });
  std::copy_n(walk.hidden(), states, call.to_start);
  if (call.to_start_cell != nullptr) {
    std::copy_n(walk.cell(), states, call.to_start_cell);
  }
}

template void recurrent_forward(const RecurrentForward&);
template void recurrent_forward(const RecurrentForwardF64&);
template void recurrent_backward(const RecurrentBackward&);
template void recurrent_backward(const RecurrentBackwardF64&);

}  // namespace tessera::cpu
