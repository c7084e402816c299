#include <cstdint>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/matrix/pack.h>
#include <tessera/kernels/cpu/simd/matrix/tile.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

#if TESSERA_ISA_LEVEL >= 2
constexpr int kRowsAtOnce = 8;
#else
constexpr int kRowsAtOnce = 4;
#endif

/// How factors of one dtype are held and multiplied.
template <class T>
struct Factors;
template <>
struct Factors<float> {
  using Words = PlainWords;
  using Product = PlainProduct;
};
template <>
struct Factors<BFloat16> {
#if TESSERA_ISA_LEVEL == 3
  using Words = PairWords;
  using Product = PairProduct;
#else
  using Words = RoundedWords;
  using Product = PlainProduct;
#endif
};

template <class T>
void to_words(const float* factors, std::int64_t count, std::uint32_t* words) {
  constexpr std::int64_t kStep = kLanes * Factors<T>::Words::kDepth;
  for (std::int64_t k = 0; k < count; k += kStep) {
    const std::int64_t left = count - k;
    const std::int64_t room = (left + Factors<T>::Words::kDepth - 1) / Factors<T>::Words::kDepth;
    store_some(reinterpret_cast<float*>(words) + k / Factors<T>::Words::kDepth,
               Factors<T>::Words::along(factors + k, left), room);
  }
}

/// sums[rows, panel] += factors[rows, words] · panel, for at most kRows rows.
template <class Product, int kRows>
void multiply_some(std::int64_t rows, std::int64_t words, const float* factors,
                   std::int64_t row_words, const float* panel, float* sums, std::int64_t stride) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      multiply_some<Product, kRows - 1>(rows, words, factors, row_words, panel, sums, stride);
      return;
    }
  }
  multiply_tile<Product, kRows>(words, factors, row_words, 1, panel, kTileColumns, sums, stride,
                                true);
}

template <class Product>
void multiply(std::int64_t rows, std::int64_t words, const std::uint32_t* factors,
              std::int64_t row_words, const std::uint32_t* panel, float* sums,
              std::int64_t stride) {
  for (std::int64_t row = 0; row < rows; row += kRowsAtOnce) {
    const std::int64_t now = rows - row < kRowsAtOnce ? rows - row : kRowsAtOnce;
    multiply_some<Product, kRowsAtOnce>(
        now, words, reinterpret_cast<const float*>(factors) + row * row_words, row_words,
        reinterpret_cast<const float*>(panel), sums + row * stride, stride);
  }
}

/// Where a vector of units of one sequence lies in tensors [batch, steps, ...].
struct Place {
  std::int64_t row;  ///< sequence and step
  std::int64_t width;
  std::int64_t unit;
  std::int64_t lanes;

  /// Line `i` of `lines` a step.
  template <class T>
  [[gnu::always_inline]] VF load(const void* p, std::int64_t lines = 1, std::int64_t i = 0) const {
    return load_up_to(static_cast<const T*>(p) + (row * lines + i) * width + unit, lanes);
  }
  template <class T>
  [[gnu::always_inline]] void store(void* p, VF x, std::int64_t lines = 1,
                                    std::int64_t i = 0) const {
    store_up_to(static_cast<T*>(p) + (row * lines + i) * width + unit, x, lanes);
  }
};

/// A vector of units in one step: sums of the gates, and the states.
struct Units {
  VF gates[4];
  VF hidden, cell;
  VF kept[4];
};

template <RecurrentCell kCell>
[[gnu::always_inline]] inline void step_cell(Units& u, VF x_new) {
  if constexpr (kCell == RecurrentCell::rnn_tanh) {
    u.hidden = u.kept[0] = tanh(u.gates[0]);
  } else if constexpr (kCell == RecurrentCell::rnn_relu) {
    u.hidden = u.kept[0] = max(zero(), u.gates[0]);
  } else if constexpr (kCell == RecurrentCell::lstm) {
    u.kept[0] = logistic(u.gates[0]);
    u.kept[1] = logistic(u.gates[1]);
    u.kept[2] = tanh(u.gates[2]);
    u.kept[3] = logistic(u.gates[3]);
    u.cell = fma(u.kept[1], u.cell, u.kept[0] * u.kept[2]);
    u.hidden = u.kept[3] * tanh(u.cell);
  } else {
    u.kept[0] = logistic(u.gates[0]);
    u.kept[1] = logistic(u.gates[1]);
    u.kept[2] = tanh(fma(u.kept[0], u.gates[2], x_new));
    u.kept[3] = u.gates[2];
    u.hidden = fma(u.kept[1], u.hidden - u.kept[2], u.kept[2]);
  }
}

/// The same backwards: `u.kept` and the gradients of the states come in; gradients of the gates and
/// of the states before go out, and `x_new` is the gradient of the input's part of the new value.
template <RecurrentCell kCell>
[[gnu::always_inline]] inline void step_back(Units& u, VF before, VF cell_before, VF& x_new) {
  const VF one = set1(1.0F);
  const VF* kept = u.kept;
  if constexpr (kCell == RecurrentCell::rnn_tanh) {
    u.gates[0] = u.hidden * fnma(kept[0], kept[0], one);
    u.hidden = zero();
  } else if constexpr (kCell == RecurrentCell::rnn_relu) {
    u.gates[0] = select_less(zero(), kept[0], u.hidden, zero());
    u.hidden = zero();
  } else if constexpr (kCell == RecurrentCell::lstm) {
    const VF squashed = tanh(fma(kept[1], cell_before, kept[0] * kept[2]));
    const VF cell = fma(u.hidden * kept[3], fnma(squashed, squashed, one), u.cell);
    u.gates[0] = cell * kept[2] * kept[0] * (one - kept[0]);
    u.gates[1] = cell * cell_before * kept[1] * (one - kept[1]);
    u.gates[2] = cell * kept[0] * fnma(kept[2], kept[2], one);
    u.gates[3] = u.hidden * squashed * kept[3] * (one - kept[3]);
    u.cell = cell * kept[1];
    u.hidden = zero();
  } else {
    x_new = u.hidden * (one - kept[1]) * fnma(kept[2], kept[2], one);
    u.gates[0] = x_new * kept[3] * kept[0] * (one - kept[0]);
    u.gates[1] = u.hidden * (before - kept[2]) * kept[1] * (one - kept[1]);
    u.gates[2] = x_new * kept[0];
    u.hidden = u.hidden * kept[1];
  }
}

template <class T, RecurrentCell kCell>
class ForwardStep {
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;

 public:
  ForwardStep(const RecurrentForward& call, const RecurrentBlock& block) : n_(call), b_(block) {}

  void run() {
    constexpr std::int64_t kStride = kGates * kTileColumns;
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      each_vector(
          row, [&](const Place& at, std::int64_t j)
                   __attribute__((always_inline)) { begin_sums(at, b_.sums + row * kStride + j); });
    }
    for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
      multiply<typename Factors<T>::Product>(n_.batch, b_.words, b_.factors, b_.words,
                                             b_.panel + gate * b_.panel_step,
                                             b_.sums + gate * kTileColumns, kStride);
    }
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      const bool taken = b_.time < n_.lengths[row];
      each_vector(
          row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
            finish(at, b_.sums + row * kStride + j, row * n_.width + at.unit, taken);
          });
      to_words<T>(b_.hidden + row * n_.width + b_.first, b_.count,
                  b_.next_factors + row * b_.words + b_.first / Factors<T>::Words::kDepth);
    }
  }

 private:
  template <class F>
  [[gnu::always_inline]] void each_vector(std::int64_t row, const F& f) const {
    each_column(
        b_.count, [&](std::int64_t j, std::int64_t lanes) __attribute__((always_inline)) {
          f(Place{row * n_.steps + b_.time, n_.width, b_.first + j, lanes}, j);
        });
  }

  /// Sums begin with the input's part; that of a gru's new value is added behind its gate.
  [[gnu::always_inline]] void begin_sums(const Place& at, float* sums) const {
    for (int gate = 0; gate < kGates; ++gate) {
      const bool apart = kCell == RecurrentCell::gru && gate == 2;
      VF sum = apart ? zero() : at.load<T>(n_.x, kGates, gate);
      if (n_.bias != nullptr) {
        sum = sum + load_up_to(n_.bias + gate * n_.width + at.unit, at.lanes);
      }
      store(sums + gate * kTileColumns, sum);
    }
  }

  [[gnu::always_inline]] void finish(const Place& at, const float* sums, std::int64_t state,
                                     bool taken) const {
    Units u{};
    u.hidden = load_up_to(b_.hidden + state, at.lanes);
    at.store<T>(n_.before, u.hidden);
    if (kHasCell) {
      u.cell = load_up_to(b_.cell + state, at.lanes);
      at.store<float>(n_.cells, u.cell);
    }
    VF output = zero();
    if (taken) {
      for (int gate = 0; gate < kGates; ++gate) {
        u.gates[gate] = load(sums + gate * kTileColumns);
      }
      const bool apart = kCell == RecurrentCell::gru;
      step_cell<kCell>(u, apart ? at.load<T>(n_.x, kGates, kGates - 1) : zero());
      output = u.hidden;
      store_up_to(b_.hidden + state, u.hidden, at.lanes);
      if (kHasCell) {
        store_up_to(b_.cell + state, u.cell, at.lanes);
      }
    }
    at.store<T>(n_.output, output);
    for (int i = 0; i < kKept; ++i) {
      at.store<T>(n_.kept_values, u.kept[i], kKept, i);
    }
  }

  const RecurrentForward& n_;
  const RecurrentBlock& b_;
};

template <class T, RecurrentCell kCell>
class BackwardStep {
  static constexpr int kGates = gates_of(kCell);
  static constexpr int kKept = kept_of(kCell);
  static constexpr bool kHasCell = kCell == RecurrentCell::lstm;
  static constexpr bool kApart = kCell == RecurrentCell::gru;

 public:
  BackwardStep(const RecurrentBackward& call, const RecurrentBlock& block) : n_(call), b_(block) {}

  void run(bool past_the_first) {
    const std::int64_t row_words = kGates * b_.words;
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      each_vector(
          row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
            store(b_.sums + row * kTileColumns + j,
                  load_up_to(b_.hidden + row * n_.width + at.unit, at.lanes));
          });
    }
    for (int gate = 0; gate < kGates && b_.factors != nullptr; ++gate) {
      multiply<typename Factors<T>::Product>(n_.batch, b_.words, b_.factors + gate * b_.words,
                                             row_words, b_.panel + gate * b_.panel_step, b_.sums,
                                             kTileColumns);
    }
    for (std::int64_t row = 0; row < n_.batch; ++row) {
      const bool taken = b_.time < n_.lengths[row];
      finish_row(row, taken, past_the_first);
    }
  }

 private:
  template <class F>
  [[gnu::always_inline]] void each_vector(std::int64_t row, const F& f) const {
    each_column(
        b_.count, [&](std::int64_t j, std::int64_t lanes) __attribute__((always_inline)) {
          f(Place{row * n_.steps + b_.time, n_.width, b_.first + j, lanes}, j);
        });
  }

  void finish_row(std::int64_t row, bool taken, bool past_the_first) const {
    float factors[kGates][kTileColumns];
    each_vector(
        row, [&](const Place& at, std::int64_t j) __attribute__((always_inline)) {
          Units u{};
          float* hidden = b_.hidden + row * n_.width + at.unit;
          u.hidden = load(b_.sums + row * kTileColumns + j);
          if (past_the_first) {
            store_up_to(hidden, u.hidden, at.lanes);
            return;
          }
          VF x_new = zero();
          if (taken) {
            take_back(at, u, b_.cell + row * n_.width + at.unit, x_new);
          }
          store_up_to(hidden, u.hidden, at.lanes);
          for (int gate = 0; gate < kGates; ++gate) {
            const bool other = kApart && gate == 2;
            at.store<T>(n_.to_x, other ? x_new : u.gates[gate], kGates, gate);
            if (kApart) {
              at.store<T>(n_.to_hidden, u.gates[gate], kGates, gate);
            }
            store(factors[gate] + j, u.gates[gate]);
          }
        });
    for (int gate = 0; gate < kGates && !past_the_first; ++gate) {
      to_words<T>(factors[gate], b_.count,
                  b_.next_factors + (row * kGates + gate) * b_.words +
                      b_.first / Factors<T>::Words::kDepth);
    }
  }

  [[gnu::always_inline]] void take_back(const Place& at, Units& u, float* cell, VF& x_new) const {
    u.hidden = u.hidden + at.load<T>(n_.output);
    for (int i = 0; i < kKept; ++i) {
      u.kept[i] = at.load<T>(n_.kept_values, kKept, i);
    }
    VF cell_before = zero();
    if (kHasCell) {
      u.cell = load_up_to(cell, at.lanes);
      cell_before = at.load<float>(n_.cells);
    }
    step_back<kCell>(u, kApart ? at.load<T>(n_.before) : zero(), cell_before, x_new);
    if (kHasCell) {
      store_up_to(cell, u.cell, at.lanes);
    }
  }

  const RecurrentBackward& n_;
  const RecurrentBlock& b_;
};

template <class T>
void forward(const RecurrentForward& call, const RecurrentBlock& block) {
  switch (call.cell) {
    case RecurrentCell::rnn_tanh:
      return ForwardStep<T, RecurrentCell::rnn_tanh>(call, block).run();
    case RecurrentCell::rnn_relu:
      return ForwardStep<T, RecurrentCell::rnn_relu>(call, block).run();
    case RecurrentCell::lstm:
      return ForwardStep<T, RecurrentCell::lstm>(call, block).run();
    case RecurrentCell::gru:
      return ForwardStep<T, RecurrentCell::gru>(call, block).run();
  }
}

template <class T>
void backward(const RecurrentBackward& call, const RecurrentBlock& block, bool past_the_first) {
  switch (call.cell) {
    case RecurrentCell::rnn_tanh:
      return BackwardStep<T, RecurrentCell::rnn_tanh>(call, block).run(past_the_first);
    case RecurrentCell::rnn_relu:
      return BackwardStep<T, RecurrentCell::rnn_relu>(call, block).run(past_the_first);
    case RecurrentCell::lstm:
      return BackwardStep<T, RecurrentCell::lstm>(call, block).run(past_the_first);
    case RecurrentCell::gru:
      return BackwardStep<T, RecurrentCell::gru>(call, block).run(past_the_first);
  }
}

constexpr RecurrentTable kTable{{forward<float>, forward<BFloat16>},
                                {backward<float>, backward<BFloat16>},
                                {to_words<float>, to_words<BFloat16>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kRecurrentAdded =
    IsaTable<RecurrentTable>::add(Isa::TESSERA_ISA, &kTable);
}
