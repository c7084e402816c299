// Pools at random geometries. The formulas of sizes are those of PyTorch's documentation.
#include "ops/geometries.h"

#include <algorithm>
#include <limits>

#include <tessera/core/ops/avg_pool.h>
#include <tessera/core/ops/max_pool.h>

namespace tessera {
namespace {

using testing_support::case_of;
using testing_support::Draws;
using testing_support::expect_sums;
using testing_support::for_each_index;
using testing_support::Line;
using testing_support::number_of;
using testing_support::product_of;
using testing_support::Sums;
using testing_support::with_sizes;

constexpr std::int64_t kChannels = 2;

/// Windows of a pool along a dim.
std::int64_t windows(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
  const double room = static_cast<double>(in + 2 * padding - dilation * (kernel - 1) - 1);
  const double steps = room / static_cast<double>(stride);
  auto out = static_cast<std::int64_t>(ceil_mode ? std::ceil(steps) : std::floor(steps)) + 1;
  if (ceil_mode && (out - 1) * stride >= in + padding) {
    --out;
  }
  return out;
}

struct Pool {
  Pool(Draws& draws, bool dilates)
      : ndim(static_cast<int>(draws.in(1, 3))),
        in(draws.dims(ndim, 1, 6)),
        kernel(draws.dims(ndim, 1, 4)),
        stride(draws.dims(ndim, 1, 3)),
        dilation(draws.dims(ndim, 1, dilates ? 3 : 1)),
        ceil_mode(draws.coin()) {
    for (int d = 0; d < ndim; ++d) {
      padding.push_back(draws.in(0, (dilation[d] * (kernel[d] - 1) + 1) / 2));
      out.push_back(windows(in[d], kernel[d], stride[d], padding[d], dilation[d], ceil_mode));
    }
  }
  [[nodiscard]] bool has_windows() const { return *std::min_element(out.begin(), out.end()) > 0; }
  [[nodiscard]] Dims met(const Dims& o, const Dims& t) const {
    Dims at;
    for (int d = 0; d < ndim; ++d) {
      at.push_back(o[d] * stride[d] + t[d] * dilation[d] - padding[d]);
    }
    return at;
  }
  [[nodiscard]] std::string text(const char* name, int i) const {
    return case_of(name, i, in, "kernel", kernel, "stride", stride, "padding", padding, "dilation",
                   dilation, ceil_mode ? "ceil" : "floor");
  }

  int ndim;
  Dims in, kernel, stride, dilation, padding, out;
  bool ceil_mode;
};

TEST(PoolGeometries, max_pools_take_the_largest_that_a_window_meets) {
  Draws draws(3);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const Pool p(draws, true);
    if (!p.has_windows()) {
      continue;
    }
    const Tensor x = draws.tensor(with_sizes(1, kChannels, p.in));
    const Tensor y = max_pool(x, {.kernel = p.kernel,
                                  .stride = p.stride,
                                  .padding = p.padding,
                                  .dilation = p.dilation,
                                  .ceil_mode = p.ceil_mode});
    const auto values = x.to_vector<double>();
    std::vector<double> most, gradient(values.size());
    for_each_index(with_sizes(1, kChannels, p.out), [&](const Dims& o, std::int64_t) {
      double best = -std::numeric_limits<double>::infinity();
      std::size_t where = values.size();
      for_each_index(p.kernel, [&](const Dims& t, std::int64_t) {
        const std::int64_t at = number_of(p.met(Dims(std::span(o).subspan(2)), t), p.in);
        const auto place = static_cast<std::size_t>(o[1] * numel_of(p.in) + at);
        if (at >= 0 && values[place] > best) {
          best = values[place];
          where = place;
        }
      });
      if (where < values.size()) {
        gradient[where] += static_cast<double>(most.size()) / 8;
      }
      most.push_back(best);
    });
    testing_support::expect_values(y, most, p.text("max pool", i));
    Tensor seed = empty(y.shape());
    for (std::int64_t k = 0; k < seed.numel(); ++k) {
      seed.data<float>()[k] = static_cast<float>(k) / 8;
    }
    y.backward(seed);
    testing_support::expect_values(x.grad(), gradient, p.text("gradient of max pool", i));
  }
}

TEST(PoolGeometries, average_pools_divide_by_what_a_window_holds) {
  Draws draws(4);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const Pool p(draws, false);
    if (!p.has_windows()) {
      continue;
    }
    const bool counts_padding = draws.coin();
    const std::int64_t divisor = draws.coin() ? 0 : draws.in(1, 5);
    const Tensor x = draws.tensor(with_sizes(1, 1, p.in));
    Sums sums;
    for_each_index(p.out, [&](const Dims& o, std::int64_t to) {
      double padded = 1, inside = 1;
      for (int d = 0; d < p.ndim; ++d) {
        const std::int64_t from = o[d] * p.stride[d] - p.padding[d];
        const std::int64_t end = std::min(from + p.kernel[d], p.in[d] + p.padding[d]);
        padded *= static_cast<double>(end - from);
        inside *= static_cast<double>(std::min(end, p.in[d]) - std::max<std::int64_t>(from, 0));
      }
      const double size = divisor > 0      ? static_cast<double>(divisor)
                          : counts_padding ? padded
                                           : inside;
      for_each_index(p.kernel, [&](const Dims& t, std::int64_t) {
        sums.add(to, number_of(p.met(o, t), p.in), -1, 1 / size);
      });
    });
    const Tensor y = avg_pool(x, {.kernel = p.kernel,
                                  .stride = p.stride,
                                  .padding = p.padding,
                                  .ceil_mode = p.ceil_mode,
                                  .counts_padding = counts_padding,
                                  .divisor = divisor});
    expect_sums(sums, y, x, {},
                p.text("average pool", i) + case_of(", divisor", 0, divisor, counts_padding));
  }
}

TEST(PoolGeometries, adaptive_pools_average_even_windows) {
  Draws draws(5);
  for (int i = 0; i < testing_support::kGeometries; ++i) {
    const int ndim = static_cast<int>(draws.in(1, 3));
    const Dims in = draws.dims(ndim, 1, 7), out = draws.dims(ndim, 1, 7);
    std::vector<Line> lines;
    for (int d = 0; d < ndim; ++d) {
      Line& line = lines.emplace_back();
      for (std::int64_t o = 0; o < out[d]; ++o) {
        const std::int64_t begin = o * in[d] / out[d];
        const std::int64_t end = ((o + 1) * in[d] + out[d] - 1) / out[d];
        line.emplace_back(static_cast<std::size_t>(in[d]));
        std::fill(line.back().begin() + begin, line.back().begin() + end,
                  1 / static_cast<double>(end - begin));
      }
    }
    const Tensor x = draws.tensor(with_sizes(1, 1, in));
    expect_sums(product_of(lines, out, in), adaptive_avg_pool(x, out), x, {},
                case_of("adaptive pool", i, in, "to", out));
  }
}

}  // namespace
}  // namespace tessera
