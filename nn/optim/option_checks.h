// What the options of optimizers and schedules have in common.
#pragma once

#include <cmath>

#include <tessera/core/base/error.h>

namespace tessera::optim {

/// Throws ValueError naming owner and option unless `value` is finite and 0 or more.
inline void require_not_negative(const char* owner, const char* option, double value) {
  check<ValueError>(value >= 0 && std::isfinite(value), owner, ": ", option, " out of range; got ",
                    value, ", expected 0 or more, and no infinity");
}

/// Throws ValueError naming owner and option unless `value` is in [0, 1).
inline void require_below_one(const char* owner, const char* option, double value) {
  check<ValueError>(value >= 0 && value < 1, owner, ": ", option, " out of range; got ", value,
                    ", expected [0, 1)");
}

}  // namespace tessera::optim
