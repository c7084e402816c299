// Matrices whose rows or columns are perpendicular.
#pragma once

#include <tessera/nn/slot.h>

namespace tessera::nn::init {

/// `gain` times a random matrix with orthonormal rows or, where there are more rows than columns,
/// orthonormal columns; dims behind the first count as columns (Saxe et al., "Exact Solutions to
/// the Nonlinear Dynamics of Learning in Deep Linear Neural Networks", ICLR 2014). Unlike others,
/// an element follows from all normal numbers of the stream: a box is made by making the whole.
/// In double, on one thread, in a fixed order. Throws ValueError below two dims.
[[nodiscard]] Initializer orthogonal(double gain = 1);

}  // namespace tessera::nn::init
