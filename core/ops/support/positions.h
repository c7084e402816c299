// What `take` and `put` share: lists of positions for neighbouring dims.
#pragma once

#include <tessera/core/dispatch/op.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// Checks the inputs from number `from` on, one list a dim of input 0 from `first` on; gives their
/// number.
int check_lists(const Infer& c, int from, int first);

/// The shape in which `lists` lists of shape `list` take elements out of `shape`.
[[nodiscard]] Shape taken_shape(const Shape& shape, const Shape& list, int lists, int first);

/// Labels: dims of x without a list are cut with those of what is taken (output 0), and so are the
/// dims of the lists.
[[nodiscard]] ShardRule positions_rule(const Infer& c, int from, int first, int taken_ndim);

/// The offset in `x` of the element that `index`, an index into what is taken, stands for.
[[nodiscard]] std::int64_t offset_at(const Kernel& k, int from, const TensorImpl& x, int first,
                                     const Dims& index);

/// Calls `f` with the offset in `x` of each element that is taken, in row-major order of `shape`.
template <class F>
void for_each_position(const Kernel& k, int from, const TensorImpl& x, const Shape& shape,
                       int first, F&& f) {
  StridedCounter<1> at(shape, {Dims::filled(shape.size(), 0)});
  for (std::int64_t n = numel_of(shape); n > 0; --n, at.next()) {
    f(offset_at(k, from, x, first, at.index()));
  }
}

}  // namespace tessera
