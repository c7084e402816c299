// What initialisers share: values made in blocks, each of which follows from its numbers alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/core/base/philox.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera::nn::init {

/// Fills `value`, dense and floating, with what `make(words, four)` makes of each block of four
/// random words: elements 4i to 4i+3 come from block i of `stream`.
template <class F>
void fill_by_fours(const Tensor& value, const RandomStream& stream, const F& make) {
  check(is_floating(value.dtype()) && value.is_contiguous(),
        "init: needs a dense floating tensor; got ", value.dtype());
  constexpr std::int64_t kTask = 1 << 16;
  const std::int64_t numel = value.numel();
  visit_dtype(value.dtype(), [&]<class T>() {
    T* data = value.get().data<T>();
    parallel_for((numel + kTask - 1) / kTask, [&](std::int64_t task) {
      const std::int64_t end = std::min(numel, (task + 1) * kTask);
      for (std::int64_t i = task * kTask; i < end; i += 4) {
        float four[4];
        make(stream.block(static_cast<std::uint64_t>(i / 4)), four);
        for (std::int64_t k = 0; k < std::min<std::int64_t>(4, end - i); ++k) {
          data[i + k] = convert<T>(four[k]);
        }
      }
    });
  });
}

}  // namespace tessera::nn::init
