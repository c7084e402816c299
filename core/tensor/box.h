// A part of a tensor that lies between two indices along each dim: what a rank holds of it.
#pragma once

#include <cstdint>
#include <ostream>

#include <tessera/core/tensor/shape.h>

namespace tessera {

/// The elements of a tensor of shape `whole` whose index along each dim d is at least offset[d] and
/// less than offset[d] + shape[d]. All three lists are equally long; default-constructed it is all
/// of a number.
struct Box {
  Shape whole;
  Dims offset;
  Shape shape;

  /// All of a tensor.
  [[nodiscard]] static Box all_of(const Shape& whole) {
    return {whole, Dims::filled(whole.size(), 0), whole};
  }
  /// The part of the box from `first` of its own dim `dim` on, `size` entries long.
  [[nodiscard]] Box part(int dim, std::int64_t first, std::int64_t size) const;
  [[nodiscard]] bool is_all() const { return shape == whole; }

  /// Row-major number in the tensor of the box's own row-major element `element`.
  [[nodiscard]] std::int64_t number(std::int64_t element) const;
  /// Row-major number in the box of the tensor's element at `index`, or -1 for one outside.
  [[nodiscard]] std::int64_t find(const Dims& index) const;
  /// Length of the runs into which the box's elements fall in order: those of one run follow each
  /// other in the tensor, too.
  [[nodiscard]] std::int64_t run() const;

  friend bool operator==(const Box&, const Box&) = default;
};

/// Prints "[2:4, 0:3] of (8, 3)".
std::ostream& operator<<(std::ostream& out, const Box& box);

}  // namespace tessera
