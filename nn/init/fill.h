// What initialisers share: values made in blocks, each of which follows from its numbers alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include <tessera/core/base/philox.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/box.h>
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

/// Fills `to` with elements `first`, first + 1, ... of the whole tensor.
template <class Real, class T, class F>
void fill_run(std::span<T> to, std::int64_t first, const RandomStream& stream, const F& make) {
  const std::int64_t end = first + std::ssize(to);
  for (std::int64_t block = first / 4; 4 * block < end; ++block) {
    Real four[4];
    make(words_of<Real>(stream, static_cast<std::uint64_t>(block)), four);
    for (std::int64_t i = std::max(first, 4 * block); i < std::min(end, 4 * block + 4); ++i) {
      to[static_cast<std::size_t>(i - first)] = convert<T>(four[i % 4]);
    }
  }
}

/// Fills `value`, dense and floating, with the elements in `box` of what `make(words, four)` makes
/// of each block of four random words: elements 4i to 4i+3 of the whole come from block i of
/// `stream`. Values of f64 are computed as double, all others as float.
void fill_by_fours(const Tensor& value, const Box& box, const RandomStream& stream,
                   const auto& make) {
  check(is_floating(value.dtype()) && value.is_contiguous(),
        "init: needs a dense floating tensor; got ", value.dtype());
  constexpr std::int64_t kTask = 1 << 16;
  const std::int64_t numel = value.numel();
  const std::int64_t run = box.run();
  visit_dtype(value.dtype(), [&]<class T>() {
    using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
    T* data = value.get().data<T>();
    parallel_for((numel + kTask - 1) / kTask, [&](std::int64_t task) {
      const std::int64_t end = std::min(numel, (task + 1) * kTask);
      for (std::int64_t i = task * kTask, next = 0; i < end; i = next) {
        next = std::min(end, (i / run + 1) * run);
        fill_run<Real>(std::span<T>(data + i, data + next), box.number(i), stream, make);
      }
    });
  });
}

}  // namespace tessera::nn::init
