// The lower triangle of matrices.
#pragma once

#include <tessera/core/ops/support/triangle.h>

namespace tessera {

struct Tril : Triangle {
  static constexpr OpInfo info{
      .name = "tril", .doc = "x with zeros above a diagonal", .linear = LinearIn::first};
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// x (..., rows, columns) with zeros above the diagonal number `diagonal`: 0 is the main one,
/// positive ones lie above it.
[[nodiscard]] Tensor tril(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace tessera
