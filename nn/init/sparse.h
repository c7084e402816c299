// Columns of few values.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// In each column of a matrix, the share `sparsity` of its rows (rounded up), picked at random, is
/// 0; the others are normal with `deviation` (Martens, "Deep Learning via Hessian-free
/// Optimization", ICML 2010). Which rows these are follows from the column's number and the number
/// of rows. Throws ValueError unless there are two dims and the share is in [0, 1].
[[nodiscard]] Initializer sparse(double sparsity, double deviation = 0.01);

}  // namespace tessera::nn::init
