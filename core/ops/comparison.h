// Comparisons. The six ops differ in one sign, so they live in one file.
#pragma once

#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/number.h>

namespace tessera {

struct Eq : Predicate<2> {
  static constexpr OpInfo info{
      .name = "eq", .doc = "x == y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct Ne : Predicate<2> {
  static constexpr OpInfo info{
      .name = "ne", .doc = "x != y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct Lt : RealOnly<Predicate<2>> {
  static constexpr OpInfo info{
      .name = "lt", .doc = "x < y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct Le : RealOnly<Predicate<2>> {
  static constexpr OpInfo info{
      .name = "le", .doc = "x <= y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct Gt : RealOnly<Predicate<2>> {
  static constexpr OpInfo info{
      .name = "gt", .doc = "x > y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

struct Ge : RealOnly<Predicate<2>> {
  static constexpr OpInfo info{
      .name = "ge", .doc = "x >= y, broadcast", .differentiable = false, .elementwise = true};
  static void reference(Kernel& k, const Attrs&);
};

/// Compare with broadcasting, in the promoted dtype; the results are bools. Complex numbers are
/// equal or not, and have no order.
[[nodiscard]] Tensor eq(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor eq(const Tensor& x, Number y);
[[nodiscard]] Tensor ne(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor ne(const Tensor& x, Number y);
[[nodiscard]] Tensor operator<(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator<(const Tensor& x, Number y);
[[nodiscard]] Tensor operator<=(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator<=(const Tensor& x, Number y);
[[nodiscard]] Tensor operator>(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator>(const Tensor& x, Number y);
[[nodiscard]] Tensor operator>=(const Tensor& x, const Tensor& y);
[[nodiscard]] Tensor operator>=(const Tensor& x, Number y);
/// Equality has no operator, nor has !=, which is made of it: a bool may be meant, or one tensor.
bool operator==(const Tensor&, const Tensor&) = delete;  // write eq, ne, all(eq(x, y)) or x.is(y)
bool operator==(const Tensor&, Number) = delete;         // write eq, ne or all(eq(x, y))

}  // namespace tessera
