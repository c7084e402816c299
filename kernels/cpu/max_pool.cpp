#include <tessera/kernels/cpu/max_pool.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

/// The taps of a window that lie inside the input, along one dim.
struct Window {
  Window(const PoolGeometry& g, std::size_t d, std::int64_t o)
      : begin(o * g.stride[d] - g.padding[d]), step(g.dilation[d]) {
    const auto taps_before = [&](std::int64_t position) {
      return position <= begin ? 0 : (position - begin + step - 1) / step;
    };
    first = taps_before(0);
    last = std::min(g.kernel[d], taps_before(g.in[d]));
  }
  [[nodiscard]] std::int64_t at(std::int64_t tap) const { return begin + tap * step; }

  std::int64_t begin, step, first = 0, last = 0;
};

/// The largest element so far, the first of equal ones and the last NaN, and its index.
template <class T>
struct Largest {
  void meet(T x, std::int64_t at) {
    const auto value = static_cast<float>(x);
    if (index < 0 || value > most || std::isnan(value)) {
      most = value;
      index = at;
    }
  }
  float most = -INFINITY;
  std::int64_t index = -1;
};

template <class T>
Largest<T> largest_of(const PoolGeometry& g, const Window& depth, const Window& height,
                      const Window& width, const T* x) {
  Largest<T> largest;
  for (std::int64_t z = depth.first; z < depth.last; ++z) {
    for (std::int64_t h = height.first; h < height.last; ++h) {
      const std::int64_t row = (depth.at(z) * g.in[1] + height.at(h)) * g.in[2];
      for (std::int64_t w = width.first; w < width.last; ++w) {
        largest.meet(x[row + width.at(w)], row + width.at(w));
      }
    }
  }
  return largest;
}

template <class T>
void pool_plane(const PoolGeometry& g, const T* x, T* y, std::int64_t* indices) {
  for (std::int64_t z = 0; z < g.out[0]; ++z) {
    const Window depth(g, 0, z);
    for (std::int64_t h = 0; h < g.out[1]; ++h) {
      const Window height(g, 1, h);
      for (std::int64_t w = 0; w < g.out[2]; ++w) {
        const Largest<T> largest = largest_of(g, depth, height, Window(g, 2, w), x);
        *y++ = T(largest.most);
        *indices++ = largest.index;
      }
    }
  }
}

template <class T>
void pool(const PoolGeometry& g, const T* x, T* y, std::int64_t* indices) {
  for_ranges(g.planes(), rows_per_task(g.in_size()), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t plane = first; plane < first + count; ++plane) {
      pool_plane(g, x + plane * g.in_size(), y + plane * g.out_size(),
                 indices + plane * g.out_size());
    }
  });
}

/// False for an index outside.
template <class T>
bool spread_plane(std::int64_t in_size, std::int64_t out_size, const T* gradient,
                  const std::int64_t* indices, float* sums) {
  std::fill(sums, sums + in_size, 0.0F);
  for (std::int64_t i = 0; i < out_size; ++i) {
    if (indices[i] < -1 || indices[i] >= in_size) {
      return false;
    }
    if (indices[i] >= 0) {  // -1: the window lay in the padding
      sums[indices[i]] += static_cast<float>(gradient[i]);
    }
  }
  return true;
}

template <class T>
bool spread(std::int64_t planes, std::int64_t in_size, std::int64_t out_size, const T* gradient,
            const std::int64_t* indices, T* x) {
  std::atomic<bool> inside{true};
  for_ranges(planes, rows_per_task(in_size), [&](std::int64_t first, std::int64_t count) {
    std::vector<float> sums(static_cast<std::size_t>(in_size));
    for (std::int64_t plane = first; plane < first + count; ++plane) {
      if (!spread_plane(in_size, out_size, gradient + plane * out_size, indices + plane * out_size,
                        sums.data())) {
        inside = false;
      }
      std::transform(sums.begin(), sums.end(), x + plane * in_size, [](float v) { return T(v); });
    }
  });
  return inside;
}

}  // namespace

void max_pool(const PoolGeometry& g, DType dtype, const void* x, void* y, std::int64_t* indices) {
  if (dtype == DType::bf16) {
    pool(g, static_cast<const BFloat16*>(x), static_cast<BFloat16*>(y), indices);
  } else {
    pool(g, static_cast<const float*>(x), static_cast<float*>(y), indices);
  }
}

bool max_pool_backward(std::int64_t planes, std::int64_t in_size, std::int64_t out_size,
                       DType dtype, const void* gradient, const std::int64_t* indices, void* x) {
  if (dtype == DType::bf16) {
    return spread(planes, in_size, out_size, static_cast<const BFloat16*>(gradient), indices,
                  static_cast<BFloat16*>(x));
  }
  return spread(planes, in_size, out_size, static_cast<const float*>(gradient), indices,
                static_cast<float*>(x));
}

}  // namespace tessera::cpu
