// What initialisers share: values made in blocks, each of which follows from its numbers alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <tessera/core/base/philox.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn::init {

/// Four random words: of 32 bits for what is computed as float, of 64 for double.
template <class Real>
using Words = std::array<std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>, 4>;

/// Block `index` of a stream. The first halves of long words are the short ones, so that doubles
/// are floats with more digits; the others come from a part of the stream that nothing else reads.
template <class Real>
Words<Real> words_of(const RandomStream& stream, std::uint64_t index) {
  const PhiloxBlock first = stream.block(index);
  if constexpr (sizeof(Real) == 4) {
    return first;
  } else {
    constexpr std::uint64_t kSecondHalves = std::uint64_t{1} << 63;
    const PhiloxBlock second = RandomStream{stream.key, stream.high ^ kSecondHalves}.block(index);
    Words<Real> words;
    for (std::size_t k = 0; k < words.size(); ++k) {
      words[k] = std::uint64_t{first[k]} << 32 | second[k];
    }
    return words;
  }
}

/// Uniform in [0, 1), with 53 random bits.
[[nodiscard]] constexpr double to_uniform(std::uint64_t word) noexcept {
  return static_cast<double>(word >> 11) * 0x1p-53;
}
using tessera::to_uniform;

/// Uniform in (0, 1], with all bits of `word`.
template <class Real, class Word>
[[nodiscard]] constexpr Real to_positive(Word word) noexcept {
  constexpr Real kStep = sizeof(Word) == 8 ? 0x1p-64 : 0x1p-32;
  return (static_cast<Real>(word) + Real{0.5}) * kStep;
}

/// Fills `value`, dense and floating, with what `make(words, four)` makes of each block of four
/// random words: elements 4i to 4i+3 come from block i of `stream`. Values of f64 are computed as
/// double, all others as float.
template <class F>
void fill_by_fours(const Tensor& value, const RandomStream& stream, const F& make) {
  check(is_floating(value.dtype()) && value.is_contiguous(),
        "init: needs a dense floating tensor; got ", value.dtype());
  constexpr std::int64_t kTask = 1 << 16;
  const std::int64_t numel = value.numel();
  visit_dtype(value.dtype(), [&]<class T>() {
    using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
    T* data = value.get().data<T>();
    parallel_for((numel + kTask - 1) / kTask, [&](std::int64_t task) {
      const std::int64_t end = std::min(numel, (task + 1) * kTask);
      for (std::int64_t i = task * kTask; i < end; i += 4) {
        Real four[4];
        make(words_of<Real>(stream, static_cast<std::uint64_t>(i / 4)), four);
        for (std::int64_t k = 0; k < std::min<std::int64_t>(4, end - i); ++k) {
          data[i + k] = convert<T>(four[k]);
        }
      }
    });
  });
}

}  // namespace tessera::nn::init
