#include <tessera/kernels/cpu/simd/winograd.h>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

#include <tessera/kernels/cpu/simd/begin.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

constexpr std::int64_t kLine = kChannelBlock;
constexpr int kTaps = 9;

// The points of the interpolation are 0, a, -a, b, -b and infinity. These two numbers, exact in
// binary, lose a quarter of the bits that the usual 1 and 2 lose.
constexpr float kA = 0.625F, kB = 1.5F;
constexpr float kA2 = kA * kA, kB2 = kB * kB;
constexpr float kOfZero = 1 / (kA2 * kB2);           // what divides a polynomial's weight
constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));  // at the points
constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));

/// The values that 6 inputs in a row bring to the points.
struct InputTransform {
  static constexpr int kIn = 6, kOut = 6;
  [[gnu::always_inline]] static void run(const VF* x, VF* y) {
    const VF sum = set1(kA2 + kB2), product = set1(kA2 * kB2);
    y[0] = fma(x[0], product, fnma(x[2], sum, x[4]));
    const VF even_a = fnma(x[2], set1(kB2), x[4]), odd_a = fnma(x[1], set1(kB2), x[3]);
    y[1] = fma(odd_a, set1(kA), even_a);
    y[2] = fnma(odd_a, set1(kA), even_a);
    const VF even_b = fnma(x[2], set1(kA2), x[4]), odd_b = fnma(x[1], set1(kA2), x[3]);
    y[3] = fma(odd_b, set1(kB), even_b);
    y[4] = fnma(odd_b, set1(kB), even_b);
    y[5] = fma(x[1], product, fnma(x[3], sum, x[5]));
  }
};

/// A polynomial of degree 3 at the points: the transposed of OutputTransform.
struct GradientTransform {
  static constexpr int kIn = 4, kOut = 6;
  [[gnu::always_inline]] static void run(const VF* x, VF* y) {
    y[0] = x[0];
    const VF even_a = fma(x[2], set1(kA2), x[0]), odd_a = fma(x[3], set1(kA2), x[1]);
    y[1] = fma(odd_a, set1(kA), even_a);
    y[2] = fnma(odd_a, set1(kA), even_a);
    const VF even_b = fma(x[2], set1(kB2), x[0]), odd_b = fma(x[3], set1(kB2), x[1]);
    y[3] = fma(odd_b, set1(kB), even_b);
    y[4] = fnma(odd_b, set1(kB), even_b);
    y[5] = x[3];
  }
};

/// 4 outputs from the values at the points.
struct OutputTransform {
  static constexpr int kIn = 6, kOut = 4;
  [[gnu::always_inline]] static void run(const VF* x, VF* y) {
    const VF even_a = x[1] + x[2], odd_a = (x[1] - x[2]) * set1(kA);
    const VF even_b = x[3] + x[4], odd_b = (x[3] - x[4]) * set1(kB);
    y[0] = x[0] + even_a + even_b;
    y[1] = odd_a + odd_b;
    y[2] = fma(even_a, set1(kA2), even_b * set1(kB2));
    y[3] = fma(odd_a, set1(kA2), fma(odd_b, set1(kB2), x[5]));
  }
};

/// 3 weights at the points.
struct WeightTransform {
  static constexpr int kIn = 3, kOut = 6;
  [[gnu::always_inline]] static void run(const VF* x, VF* y) {
    y[0] = x[0] * set1(kOfZero);
    const VF even_a = fma(x[2], set1(kA2), x[0]), even_b = fma(x[2], set1(kB2), x[0]);
    y[1] = fma(x[1], set1(kA), even_a) * set1(kOfA);
    y[2] = fnma(x[1], set1(kA), even_a) * set1(kOfA);
    y[3] = fma(x[1], set1(kB), even_b) * set1(kOfB);
    y[4] = fnma(x[1], set1(kB), even_b) * set1(kOfB);
    y[5] = x[2];
  }
};

/// The transposed of the weights' transform: the gradients of 3 weights.
struct WeightGradientTransform {
  static constexpr int kIn = 6, kOut = 3;
  [[gnu::always_inline]] static void run(const VF* x, VF* y) {
    const VF even_a = (x[1] + x[2]) * set1(kOfA), odd_a = (x[1] - x[2]) * set1(kOfA);
    const VF even_b = (x[3] + x[4]) * set1(kOfB), odd_b = (x[3] - x[4]) * set1(kOfB);
    y[0] = fma(x[0], set1(kOfZero), even_a + even_b);
    y[1] = fma(odd_a, set1(kA), odd_b * set1(kB));
    y[2] = fma(even_a, set1(kA2), fma(even_b, set1(kB2), x[5]));
  }
};

/// Columns, then rows.
template <class F>
[[gnu::always_inline]] inline void both_ways(const VF (&x)[F::kIn][F::kIn],
                                             VF (&y)[F::kOut][F::kOut]) {
  VF half[F::kOut][F::kIn];
#pragma GCC unroll 6
  for (int j = 0; j < F::kIn; ++j) {
    VF from[F::kIn], to[F::kOut];
#pragma GCC unroll 6
    for (int i = 0; i < F::kIn; ++i) {
      from[i] = x[i][j];
    }
    F::run(from, to);
#pragma GCC unroll 6
    for (int i = 0; i < F::kOut; ++i) {
      half[i][j] = to[i];
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < F::kOut; ++i) {
    F::run(half[i], y[i]);
  }
}

template <class T>
[[gnu::always_inline]] inline VF load_line(const T* p, bool round) {
  const VF x = load(p);
  return round ? as_bf16(x) : x;
}

/// Some lanes of the tile that begins at column `left`.
template <class T, int kSize>
[[gnu::always_inline]] inline void load_tile(const WinogradStrip& s, const T* lines,
                                             std::int64_t left, VF (&x)[kSize][kSize]) {
#pragma GCC unroll 6
  for (int i = 0; i < kSize; ++i) {
    const std::int64_t row = s.top + i;
    const T* line = lines + ((row - s.first_row) * s.width + left) * kLine;
#pragma GCC unroll 6
    for (int j = 0; j < kSize; ++j) {
      const bool inside = row >= 0 && row < s.height && left + j >= 0 && left + j < s.width;
      x[i][j] = inside ? load_line(line + j * kLine, s.round) : zero();
    }
  }
}

[[gnu::always_inline]] inline void store_tile(const VF (&y)[6][6], float* to, std::int64_t step) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      store(to + (i * 6 + j) * step, y[i][j]);
    }
  }
}

[[gnu::always_inline]] inline void load_tile(const float* from, std::int64_t step, VF (&x)[6][6]) {
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      x[i][j] = load(from + (i * 6 + j) * step);
    }
  }
}

template <class T, class F>
void take(const WinogradStrip& s, const void* lines, const WinogradTiles& to) {
  for (std::int64_t tile = 0; tile < s.tiles; ++tile) {
    for (std::int64_t lane = 0; lane < kLine; lane += kLanes) {
      VF x[F::kIn][F::kIn], y[6][6];
      load_tile(s, static_cast<const T*>(lines) + lane, s.left + tile * kWinogradTile, x);
      both_ways<F>(x, y);
      store_tile(y, to.data + tile * to.tile_step + lane, to.position_step);
    }
  }
}

template <class T>
void put_outputs(const WinogradStrip& s, const WinogradTiles& from, const float* bias,
                 void* lines) {
  for (std::int64_t tile = 0; tile < s.tiles; ++tile) {
    const std::int64_t left = s.left + tile * kWinogradTile;
    for (std::int64_t lane = 0; lane < kLine; lane += kLanes) {
      VF x[6][6], y[kWinogradTile][kWinogradTile];
      load_tile(from.data + tile * from.tile_step + lane, from.position_step, x);
      both_ways<OutputTransform>(x, y);
      const VF more = bias == nullptr ? zero() : load(bias + lane);
      for (std::int64_t i = 0; i < kWinogradTile && s.top + i < s.height; ++i) {
        const std::int64_t line = (s.top + i - s.first_row) * s.width + left;
        for (std::int64_t j = 0; j < kWinogradTile && left + j < s.width; ++j) {
          store(static_cast<T*>(lines) + (line + j) * kLine + lane, y[i][j] + more);
        }
      }
    }
  }
}

/// The windows of 16 lanes side by side: [tap][lane].
template <class T>
void gather_windows(const WinogradWeights& w, const T* from, float* windows) {
  for (std::int64_t lane = 0; lane < kLine; ++lane) {
    for (int tap = 0; tap < kTaps; ++tap) {
      windows[(w.flip ? kTaps - 1 - tap : tap) * kLine + lane] =
          static_cast<float>(from[lane * w.lane_step + tap]);
    }
  }
}

template <class T>
void take_weights(const WinogradWeights& w, const WinogradTiles& to) {
  alignas(64) float windows[kTaps * kLine];
  for (std::int64_t k = 0; k < w.count; ++k) {
    gather_windows(w, static_cast<const T*>(w.data) + k * w.step, windows);
    for (std::int64_t lane = 0; lane < kLine; lane += kLanes) {
      VF x[3][3], y[6][6];
      for (int tap = 0; tap < kTaps; ++tap) {
        x[tap / 3][tap % 3] = load_line(windows + tap * kLine + lane, w.round);
      }
      both_ways<WeightTransform>(x, y);
      store_tile(y, to.data + k * to.tile_step + lane, to.position_step);
    }
  }
}

void put_weights(const float* from, std::int64_t position_step, float* to) {
  alignas(64) float windows[kTaps * kLine];
  for (std::int64_t lane = 0; lane < kLine; lane += kLanes) {
    VF x[6][6], y[3][3];
    load_tile(from + lane, position_step, x);
    both_ways<WeightGradientTransform>(x, y);
    for (int tap = 0; tap < kTaps; ++tap) {
      store(windows + tap * kLine + lane, y[tap / 3][tap % 3]);
    }
  }
  for (std::int64_t lane = 0; lane < kLine; ++lane) {
    for (int tap = 0; tap < kTaps; ++tap) {
      to[lane * kTaps + tap] = windows[tap * kLine + lane];
    }
  }
}

constexpr WinogradTable kWinogradTable{
    {take<float, InputTransform>, take<BFloat16, InputTransform>},
    {take<float, GradientTransform>, take<BFloat16, GradientTransform>},
    {put_outputs<float>, put_outputs<BFloat16>},
    {take_weights<float>, take_weights<BFloat16>},
    put_weights};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kWinogradAdded =
    IsaTable<WinogradTable>::add(Isa::TESSERA_ISA, &kWinogradTable);
}
