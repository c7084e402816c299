// The roofs: what this machine gives at most, measured. Figures are quoted as shares of them.
//
// Header only, for other benchmarks: `#include "bench/roofs.h"`.
#pragma once

#include <unistd.h>
#include <array>
#include <cstring>
#include <string_view>

#include "roofs/copies.h"
#include "roofs/flops.h"
#include "roofs/mapping.h"
#include "roofs/together.h"

namespace bench {

enum class Roof {
  fma_f32,      ///< multiply-adds out of registers, FLOP/s
  fma_bf16,     ///< the same with bf16 factors and f32 sums
  dram_copy,    ///< private memory far larger than the caches, bytes/s read plus written
  l3_copy,      ///< private memory that fits the last cache but not the one before
  shared_copy,  ///< out of the next thread's shared memory into one's own, as ranks of one host do
};

inline constexpr std::array kRoofs{Roof::fma_f32, Roof::fma_bf16, Roof::dram_copy, Roof::l3_copy,
                                   Roof::shared_copy};

[[nodiscard]] constexpr std::string_view to_string(Roof roof) noexcept {
  constexpr std::array<std::string_view, kRoofs.size()> names{"fma_f32", "fma_bf16", "dram_copy",
                                                              "l3_copy", "shared_copy"};
  return names[static_cast<std::size_t>(roof)];
}

[[nodiscard]] constexpr bool is_copy(Roof roof) noexcept {
  return roof >= Roof::dram_copy;
}

inline constexpr double kSampleSeconds = 0.03;  ///< of copies, and of what is compared with them

namespace detail {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

inline double sample_flops(FlopLoop loop, int threads) {
  constexpr long kRounds = 10'000'000;
  const double done = loop(1) * static_cast<double>(kRounds) * threads;
  const auto warm = [&](int) { loop(kRounds / 10); };
  return done / seconds_together(threads, warm, [&](int) { loop(kRounds); });
}

/// Bytes of each of a thread's two buffers.
inline std::size_t buffer_bytes(Roof roof) {
  if (roof != Roof::l3_copy) {
    return 96 * kMiB;
  }
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return cache > 0 ? std::max(static_cast<std::size_t>(cache) / 16 / 64 * 64, kMiB) : 2 * kMiB;
}

inline Mapping make_buffer(Roof roof) {
  const std::size_t bytes = buffer_bytes(roof);
  return roof == Roof::shared_copy ? Mapping::shared_memory(bytes) : Mapping::private_memory(bytes);
}

struct Buffers {
  Mapping from, to;
};

/// Bytes read plus written per second by one way of copying.
inline double sample_copy(CopyLoop loop, const std::vector<Buffers>& buffers) {
  const int threads = static_cast<int>(buffers.size());
  const std::size_t bytes = buffers.front().from.size();
  const auto repeats = static_cast<long>(1 + kSampleSeconds * 30e9 / static_cast<double>(bytes));
  const auto copy = [&](int thread) {
    const auto own = static_cast<std::size_t>(thread);
    const Mapping& from = buffers[(own + 1) % buffers.size()].from;
    loop(buffers[own].to.data(), from.data(), bytes);
  };
  const auto work = [&](int thread) {
    for (long repeat = 0; repeat < repeats; ++repeat) {
      copy(thread);
    }
  };
  const double moved = 2.0 * static_cast<double>(bytes) * static_cast<double>(repeats) * threads;
  return moved / seconds_together(threads, copy, work);
}

inline std::vector<Buffers> make_buffers(Roof roof, int threads) {
  std::vector<Buffers> buffers(static_cast<std::size_t>(threads));
  seconds_together(
      threads, [](int) {},
      [&](int thread) {
        Buffers& own = buffers[static_cast<std::size_t>(thread)];
        own = {make_buffer(roof), make_buffer(roof)};
        std::memset(own.from.data(), 1, own.from.size());  // each thread touches its own first
        std::memset(own.to.data(), 1, own.to.size());
      });
  return buffers;
}

}  // namespace detail

/// One sample of about 0.1 s, over all threads together, in FLOP/s or bytes/s. Take a median of
/// several, between the measurements that are compared with it.
inline double measure(Roof roof, int threads) {
  if (!is_copy(roof)) {
    return detail::sample_flops(roof == Roof::fma_f32 ? best_f32_loop() : best_bf16_loop(),
                                threads);
  }
  const auto buffers = detail::make_buffers(roof, threads);
  double best = 0;
  for (CopyLoop loop : copy_loops()) {
    best = std::max(best, detail::sample_copy(loop, buffers));
  }
  return best;
}

/// The median of `samples` samples.
inline double measure_median(Roof roof, int threads, int samples = 7) {
  std::vector<double> values;
  for (int sample = 0; sample < samples; ++sample) {
    values.push_back(measure(roof, threads));
  }
  std::ranges::nth_element(values, values.begin() + samples / 2);
  return values[static_cast<std::size_t>(samples / 2)];
}

}  // namespace bench
