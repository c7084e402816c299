// Kernels that move memory, by the least bytes that they could move.
#pragma once

#include <memory>
#include <vector>

#include <tessera/kernels/cpu/norm.h>
#include <tessera/kernels/cpu/optimizer.h>
#include <tessera/kernels/cpu/softmax.h>

#include "subject.h"

namespace bench {

using tessera::DType;
using tessera::Tensor;

inline Subject layer_norm() {
  constexpr std::int64_t kRows = 32768, kColumns = 768;
  const Tensor x = values(kRows, kColumns), y = values(kRows, kColumns), w = values(1, kColumns);
  return {"layer_norm", "", Roof::dram_copy, 8.0 * kRows * kColumns, [=] {
            tessera::cpu::NormForward n;
            n.rows = kRows, n.columns = kColumns;
            n.x = x.raw_data(), n.y = y.raw_data();
            n.scale = n.shift = w.data<float>();
            tessera::cpu::norm_forward(n);
          }};
}

/// Reads x and dy, writes dx; the gradients of parameters are small.
inline Subject layer_norm_backward() {
  constexpr std::int64_t kRows = 32768, kColumns = 768;
  const Tensor x = values(kRows, kColumns), dy = values(kRows, kColumns),
               dx = values(kRows, kColumns);
  const Tensor w = values(3, kColumns), statistics = values(2, kRows);
  return {"layer_norm_backward", "", Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::NormBackward n;
            n.rows = kRows, n.columns = kColumns;
            n.x = x.raw_data(), n.dy = dy.raw_data(), n.dx = dx.raw_data();
            n.mean = statistics.data<float>(), n.inverse = n.mean + kRows;
            n.scale = w.data<float>();
            n.dscale = w.data<float>() + kColumns, n.dshift = w.data<float>() + 2 * kColumns;
            tessera::cpu::norm_backward(n);
          }};
}

inline Subject softmax() {
  constexpr std::int64_t kRows = 32768, kColumns = 1024;
  const Tensor x = values(kRows, kColumns), y = values(kRows, kColumns);
  return {"softmax", "", Roof::dram_copy, 8.0 * kRows * kColumns, [=] {
            tessera::cpu::softmax_forward(DType::f32, x.raw_data(), y.raw_data(), kRows, kColumns,
                                          false);
          }};
}

inline Subject softmax_backward() {
  constexpr std::int64_t kRows = 24576, kColumns = 1024;
  const Tensor y = values(kRows, kColumns), dy = values(kRows, kColumns),
               dx = values(kRows, kColumns);
  return {"softmax_backward", "", Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::softmax_backward(DType::f32, y.raw_data(), dy.raw_data(), dx.raw_data(),
                                           kRows, kColumns, false);
          }};
}

/// As many parameters as GPT-2 has. Not a power of two: arrays that lie one apart find the same
/// banks of memory busy, which costs a quarter and befalls no model.
inline Subject adamw() {
  constexpr std::int64_t kCount = 124'439'808;
  const Tensor p = values(1, kCount), g = values(1, kCount), m = values(1, kCount);
  const Tensor v = values(1, kCount);
  return {"adamw", "", Roof::dram_copy, 28.0 * kCount, [=] {
            const tessera::cpu::ParameterRange range{.parameter = p.data<float>(),
                                                     .gradient = g.data<float>(),
                                                     .states = {m.data<float>(), v.data<float>()},
                                                     .count = kCount};
            tessera::cpu::adamw_step({}, {}, {&range, 1});
          }};
}

/// Forward reads the logits; backward reads them again and overwrites them with their gradient.
inline Subject cross_entropy() {
  constexpr std::int64_t kRows = 512, kColumns = 50257;
  const Tensor x = values(kRows, kColumns), losses = values(1, kRows);
  const auto targets = std::make_shared<std::vector<std::int64_t>>(kRows, 17);
  const auto log_sums = std::make_shared<std::vector<tessera::cpu::LogSum>>(kRows);
  return {"cross_entropy", "", Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::CrossEntropyRows c;
            c.rows = kRows, c.columns = kColumns;
            c.logits = x.raw_data(), c.targets = targets->data();
            float* of_rows = losses.data<float>();
            tessera::cpu::cross_entropy_forward(c, of_rows, log_sums->data());
            tessera::cpu::cross_entropy_backward(c, log_sums->data(), of_rows, DType::f32,
                                                 x.raw_data(), kColumns);
          }};
}

}  // namespace bench
