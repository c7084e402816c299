// Whether two samples come from one distribution.
#pragma once

#include <tessera/core/tensor/tensor.h>

#include "oracle/support/fixture.h"

namespace tessera::oracle {

/// Expects mean, deviation and extremes of `got` to be those of `begun`, a sample of the same size,
/// up to what chance explains: see tests/oracle/support/begin.py. Constants must be equal.
void expect_same_distribution(const Tensor& got, const Node& begun);

}  // namespace tessera::oracle
