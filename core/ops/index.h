// Indexing with numbers, ranges, masks and lists, as in NumPy:
//
//   index(x, {0, Range{1, 3}})             x[0, 1:3]
//   index(x, {kRest, -1})                  x[..., -1]
//   index(x, {mask})                       x[mask]
//   assign(x, {Range{}, list}, y)          x[:, list] = y
#pragma once

#include <initializer_list>
#include <optional>
#include <variant>

#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/number.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Positions `start`, `start` + `step`, ... below `end` of one dim; Range{} is all of it.
struct Range {
  std::int64_t start = 0;
  std::int64_t end = Slice::kEnd;
  std::int64_t step = 1;
};

struct NewDim {};
struct Rest {};
inline constexpr NewDim kNewDim{};  ///< a new dim of size 1
inline constexpr Rest kRest{};      ///< as many whole dims as are left

/// What stands between the commas of x[...]. A tensor is a mask (bool, over as many dims as it has;
/// one of none gives a new dim, of size 1 where it holds and 0 elsewhere) or a list of positions
/// (i64, any shape).
using Index = std::variant<std::int64_t, Range, NewDim, Rest, Tensor>;

/// The part of x that `indices` name. A view when they hold no tensors; else a copy, in which the
/// dims of the lists, broadcast against each other, take the place of the first indexed dim. Lists
/// must stand side by side. Masks wait for their elements. Throws InvalidArgument for positions out
/// of range.
[[nodiscard]] Tensor index(const Tensor& x, std::initializer_list<Index> indices);

/// Writes `value`, broadcast and converted, to that part of x; on the tape when gradients are on.
/// Throws ValueError for a number that the dtype of x cannot hold, as Number::check_fits says.
void assign(const Tensor& x, std::initializer_list<Index> indices, const Tensor& value);
void assign(const Tensor& x, std::initializer_list<Index> indices, Number value);

/// The positions where `mask` is not zero, in row-major order: one list (n,) of i64 for each dim.
[[nodiscard]] std::vector<Tensor> nonzero(const Tensor& mask);

}  // namespace tessera
