#include <tessera/kernels/cpu/copy.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

struct Dim {
  std::int64_t size, from, to;
};

/// The dims without those of size 1, neighbours merged that both sides walk as one.
std::vector<Dim> merged(const Shape& shape, const Strides& from, const Strides& to) {
  std::vector<Dim> dims;
  for (int d = 0; d < shape.size(); ++d) {
    const Dim next{shape[d], from[d], to[d]};
    if (next.size == 1) {
      continue;
    }
    if (!dims.empty() && dims.back().from == next.from * next.size &&
        dims.back().to == next.to * next.size) {
      dims.back() = {dims.back().size * next.size, next.from, next.to};
    } else {
      dims.push_back(next);
    }
  }
  return dims;
}

/// A block: rows and columns, the latter innermost on the side that is written.
struct Plane {
  Dim rows{1, 0, 0}, columns{1, 1, 1};
  std::vector<Dim> outer;
};

/// Takes as rows the dim along which the source is densest, so that lines of both sides are used
/// whole while a block lies in the first cache.
Plane plane_of(std::vector<Dim> dims) {
  Plane plane;
  if (!dims.empty()) {
    plane.columns = dims.back();
    dims.pop_back();
  }
  if (!dims.empty()) {
    auto rows = std::prev(dims.end());
    if (plane.columns.from != 1) {
      rows = std::ranges::min_element(
          dims, {}, [](const Dim& d) { return d.from == 0 ? INT64_MAX : d.from; });
    }
    plane.rows = *rows;
    dims.erase(rows);
  }
  plane.outer = std::move(dims);
  return plane;
}

template <class T>
void copy_block(const Plane& p, std::int64_t rows, const T* from, T* to) {
  if (p.columns.from == 1 && p.columns.to == 1) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::memcpy(to + i * p.rows.to, from + i * p.rows.from,
                  static_cast<std::size_t>(p.columns.size) * sizeof(T));
    }
    return;
  }
  constexpr std::int64_t kSide = 16;
  for (std::int64_t j = 0; j < p.columns.size; j += kSide) {
    const std::int64_t end = std::min(j + kSide, p.columns.size);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t c = j; c < end; ++c) {
        to[i * p.rows.to + c * p.columns.to] = from[i * p.rows.from + c * p.columns.from];
      }
    }
  }
}

/// One dim only: cut into lines.
template <class T>
void copy_line(const Dim& line, const T* from, T* to) {
  constexpr std::int64_t kElements = 65536;
  for_ranges(line.size, kElements, [&](std::int64_t first, std::int64_t count) {
    const Plane part{{1, 0, 0}, {count, line.from, line.to}, {}};
    copy_block(part, 1, from + first * line.from, to + first * line.to);
  });
}

template <class T>
void copy_plane(const Plane& p, const T* from, T* to) {
  if (p.rows.size == 1 && p.outer.empty()) {
    return copy_line(p.columns, from, to);
  }
  std::int64_t count = 1;
  for (const Dim& d : p.outer) {
    count *= d.size;
  }
  constexpr std::int64_t kRows = 64;
  const std::int64_t parts = (p.rows.size + kRows - 1) / kRows;
  constexpr std::int64_t kElements = 16384;
  const std::int64_t step =
      std::max<std::int64_t>(1, kElements / (std::min(kRows, p.rows.size) * p.columns.size));
  for_ranges(count * parts, step, [&](std::int64_t first, std::int64_t blocks) {
    for (std::int64_t block = first; block < first + blocks; ++block) {
      const std::int64_t row = block % parts * kRows;
      std::int64_t at_from = row * p.rows.from;
      std::int64_t at_to = row * p.rows.to;
      std::int64_t rest = block / parts;
      for (auto d = p.outer.rbegin(); d != p.outer.rend(); ++d) {
        at_from += rest % d->size * d->from;
        at_to += rest % d->size * d->to;
        rest /= d->size;
      }
      copy_block(p, std::min(kRows, p.rows.size - row), from + at_from, to + at_to);
    }
  });
}

}  // namespace

void copy_strided(const Shape& shape, std::size_t size, const StridedSource& from,
                  const StridedTarget& to) {
  if (numel_of(shape) == 0) {
    return;
  }
  const Plane plane = plane_of(merged(shape, from.strides, to.strides));
  const auto run = [&]<class T>(T) {
    copy_plane(plane, reinterpret_cast<const T*>(from.data), reinterpret_cast<T*>(to.data));
  };
  switch (size) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    case 8:
      return run(std::uint64_t{});
    case 16:
      return run(std::complex<double>{});
    default:
      fail<InternalError>("copy_strided: no such element; got ", size, " bytes");
  }
}

}  // namespace tessera::cpu
