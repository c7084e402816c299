// Multiply-adds out of registers, as each instruction set has them; see core/tensor/peak.h.
#pragma once

#include <cstdint>

namespace tessera::cpu {

/// Each runs `rounds` rounds and returns the floating-point operations done.
struct PeakTable {
  double (*f32)(std::int64_t rounds);
  double (*bf16)(std::int64_t rounds);  ///< bf16 factors, f32 sums
};

}  // namespace tessera::cpu
