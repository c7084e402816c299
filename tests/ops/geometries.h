// Layers that lay windows on planes, at random geometries, beside naive sums over all terms.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::testing_support {

inline constexpr int kGeometries = 200;

/// Whole numbers that follow from a seed, the same everywhere.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : random_(seed) {}
  /// In [low, high].
  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool coin() { return in(0, 1) == 1; }
  Dims dims(int ndim, std::int64_t low, std::int64_t high) {
    Dims result;
    for (int d = 0; d < ndim; ++d) {
      result.push_back(in(low, high));
    }
    return result;
  }
  /// Different eighths in mixed order, whose sums f32 holds exactly.
  Tensor tensor(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(numel_of(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i) / 8 - static_cast<float>(values.size()) / 16;
    }
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[random_() % i]);
    }
    return from_values(std::span<const float>(values), shape).set_requires_grad(true);
  }

 private:
  std::mt19937 random_;
};

/// Calls f(index, number) for all indices of a shape, row-major.
template <class F>
void for_each_index(const Dims& sizes, const F& f) {
  Dims index = Dims::filled(sizes.size(), 0);
  const std::int64_t count = numel_of(sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    f(index, i);
    for (int d = sizes.size() - 1; d >= 0 && ++index[d] == sizes[d]; --d) {
      index[d] = 0;
    }
  }
}

/// The row-major number of an index; -1 outside.
inline std::int64_t number_of(const Dims& index, const Dims& sizes) {
  std::int64_t number = 0;
  for (int d = 0; d < sizes.size(); ++d) {
    if (index[d] < 0 || index[d] >= sizes[d]) {
      return -1;
    }
    number = number * sizes[d] + index[d];
  }
  return number;
}

inline Shape with_sizes(std::int64_t a, std::int64_t b, const Dims& sizes) {
  Shape shape{a, b};
  for (const std::int64_t size : sizes) {
    shape.push_back(size);
  }
  return shape;
}

/// y[y] += factor x[x] w[w], where w of -1 stands for 1.
struct Term {
  std::int64_t y, x, w;
  double factor;
};

/// What a layer that is a sum of terms gives.
struct Sums {
  std::vector<Term> terms;

  void add(std::int64_t y, std::int64_t x, std::int64_t w = -1, double factor = 1) {
    if (x >= 0 && y >= 0) {
      terms.push_back({y, x, w, factor});
    }
  }
};

inline void expect_values(const Tensor& actual, const std::vector<double>& expected,
                          const std::string& what) {
  const std::vector<double> values = actual.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(values[i] == expected[i] ||
                std::abs(values[i] - expected[i]) <= 2e-5 * (1 + std::abs(expected[i])))
        << what << ": element " << i << " is " << values[i] << ", expected " << expected[i];
  }
}

/// y = f(x, w) and the gradients of x and w are the sums of these terms; w may be undefined.
inline void expect_sums(const Sums& sums, const Tensor& y, const Tensor& x, const Tensor& w,
                        const std::string& what) {
  const auto values = x.to_vector<double>();
  const auto weights = w.defined() ? w.to_vector<double>() : std::vector<double>();
  const Tensor seed = Draws(7).tensor(y.shape()).detach();
  const auto g = seed.to_vector<double>();
  std::vector<double> to_y(g.size()), to_x(values.size()), to_w(weights.size());
  for (const Term& t : sums.terms) {
    const auto a = static_cast<std::size_t>(t.y), b = static_cast<std::size_t>(t.x);
    const double weight = t.w < 0 ? 1 : weights[static_cast<std::size_t>(t.w)];
    to_y[a] += t.factor * values[b] * weight;
    to_x[b] += t.factor * g[a] * weight;
    if (t.w >= 0) {
      to_w[static_cast<std::size_t>(t.w)] += t.factor * g[a] * values[b];
    }
  }
  expect_values(y, to_y, what);
  y.backward(seed);
  expect_values(x.grad(), to_x, what + ", gradient of x");
  if (w.defined()) {
    expect_values(w.grad(), to_w, what + ", gradient of weight");
  }
}

/// Weights along a dim: output o takes line[o][i] of input i.
using Line = std::vector<std::vector<double>>;

/// Output o takes the product over d of lines[d][o[d]][i[d]] of input i.
inline Sums product_of(const std::vector<Line>& lines, const Dims& out, const Dims& in) {
  Sums sums;
  for_each_index(out, [&](const Dims& o, std::int64_t to) {
    for_each_index(in, [&](const Dims& at, std::int64_t from) {
      double factor = 1;
      for (int d = 0; d < in.size(); ++d) {
        factor *= lines[static_cast<std::size_t>(d)][static_cast<std::size_t>(o[d])]
                       [static_cast<std::size_t>(at[d])];
      }
      sums.add(to, from, -1, factor);
    });
  });
  return sums;
}

/// "name number of (2, 3), kernel (1, 2)", say.
template <class... Parts>
std::string case_of(const char* name, int number, const Parts&... parts) {
  std::ostringstream out;
  out << name << ' ' << number;
  ((out << ' ' << parts), ...);
  return out.str();
}

}  // namespace tessera::testing_support
