// Logic on truth values: anything but zero is true.
#pragma once

#include <tessera/core/ops/support/elementwise.h>

namespace tessera {

struct LogicalAnd : Predicate<2> {
  static constexpr OpInfo info{.name = "logical_and",
                               .doc = "x and y, broadcast",
                               .differentiable = false,
                               .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct LogicalOr : Predicate<2> {
  static constexpr OpInfo info{.name = "logical_or",
                               .doc = "x or y, broadcast",
                               .differentiable = false,
                               .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct LogicalNot : Predicate<1> {
  static constexpr OpInfo info{
      .name = "logical_not", .doc = "not x", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

/// Bools, from tensors of any dtype, with broadcasting.
[[nodiscard]] Tensor logical_and(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor logical_or(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor logical_not(const Tensor& x);

}  // namespace tessera
