#include <tessera/kernels/cpu/convolution_columns.h>

#include <algorithm>

namespace tessera::cpu {
namespace {

/// The positions o of [0, out) that tap `t` of dim `d` brings inside the input.
struct Inside {
  Inside(const ConvolutionGeometry& g, std::size_t d, std::int64_t t)
      : stride(g.stride[d]), shift(t * g.dilation[d] - g.padding[d]) {
    first = shift >= 0 ? 0 : std::min((-shift + stride - 1) / stride, g.out[d]);
    const std::int64_t room = g.in[d] - 1 - shift;
    last = room < 0 ? first : std::max(first, std::min(room / stride + 1, g.out[d]));
  }
  /// What position `o` reads.
  [[nodiscard]] std::int64_t at(std::int64_t o) const { return o * stride + shift; }
  [[nodiscard]] bool holds(std::int64_t o) const { return o >= first && o < last; }

  std::int64_t stride, shift, first, last;
};

/// Calls f(line, row of the image or null, row of the columns) for all rows of positions along the
/// last dim, tap by tap; `line` is what the tap reads there.
template <class Image, class Columns, class F>
void for_each_row(const ConvolutionGeometry& g, std::int64_t channels, Image* image,
                  Columns* columns, const F& f) {
  for (std::int64_t c = 0; c < channels; ++c, image += g.in_size()) {
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const Inside depth(g, 0, tap / (g.kernel[1] * g.kernel[2]));
      const Inside height(g, 1, tap / g.kernel[2] % g.kernel[1]);
      const Inside line(g, 2, tap % g.kernel[2]);
      for (std::int64_t d = 0; d < g.out[0]; ++d) {
        for (std::int64_t h = 0; h < g.out[1]; ++h, columns += g.out[2]) {
          const std::int64_t row = depth.at(d) * g.in[1] + height.at(h);
          const bool inside = depth.holds(d) && height.holds(h);
          f(line, inside ? image + row * g.in[2] : nullptr, columns);
        }
      }
    }
  }
}

template <class T>
void take(const ConvolutionGeometry& g, std::int64_t channels, const T* image, T* columns) {
  for_each_row(g, channels, image, columns, [&](const Inside& line, const T* from, T* to) {
    const std::int64_t first = from == nullptr ? g.out[2] : line.first;
    const std::int64_t last = from == nullptr ? g.out[2] : line.last;
    std::fill(to, to + first, T(0));
    if (line.stride == 1 && first < last) {
      std::copy(from + line.at(first), from + line.at(last), to + first);
    } else {
      for (std::int64_t o = first; o < last; ++o) {
        to[o] = from[line.at(o)];
      }
    }
    std::fill(to + last, to + g.out[2], T(0));
  });
}

}  // namespace

void take_columns(const ConvolutionGeometry& g, std::int64_t channels, std::size_t size,
                  const char* image, char* columns) {
  if (size == sizeof(float)) {
    take(g, channels, reinterpret_cast<const std::uint32_t*>(image),
         reinterpret_cast<std::uint32_t*>(columns));
  } else {
    take(g, channels, reinterpret_cast<const std::uint16_t*>(image),
         reinterpret_cast<std::uint16_t*>(columns));
  }
}

void add_columns(const ConvolutionGeometry& g, std::int64_t channels, const float* columns,
                 float* image) {
  std::fill(image, image + channels * g.in_size(), 0.0F);
  for_each_row(g, channels, image, columns, [](const Inside& line, float* to, const float* from) {
    for (std::int64_t o = line.first; to != nullptr && o < line.last; ++o) {
      to[line.at(o)] += from[o];
    }
  });
}

}  // namespace tessera::cpu
