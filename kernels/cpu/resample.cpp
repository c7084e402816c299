#include <tessera/kernels/cpu/resample.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {
namespace {

/// A resampling of planes whose rows are short enough to stay in the first cache. Sums are f64, so
/// that an average of few numbers is rounded once.
class ResampledPlanes {
 public:
  explicit ResampledPlanes(const Resampling& r) : rows_(taps_of(r)), in_(sizes_in(r)) {
    columns_ = std::exchange(rows_[2], Taps{.first = {0, 1}, .position = {0}, .weight = {1}});
  }
  [[nodiscard]] std::int64_t in_size() const { return in_[0] * in_[1] * in_[2]; }
  [[nodiscard]] std::int64_t out_size() const {
    return rows_[0].count() * rows_[1].count() * columns_.count();
  }

  void forward(const float* x, float* y) const {
    std::vector<double> row(static_cast<std::size_t>(in_[2]));
    for_each_row([&](std::int64_t z, std::int64_t h) {
      std::fill(row.begin(), row.end(), 0.0);
      for_each_input_row(z, h, [&](std::int64_t at, double weight) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          row[i] += weight * x[at + static_cast<std::int64_t>(i)];
        }
      });
      for (std::int64_t o = 0; o < columns_.count(); ++o) {
        *y++ = static_cast<float>(sum_at(o, row.data()));
      }
    });
  }

  void backward(const float* y, float* x) const {
    std::fill(x, x + in_size(), 0.0F);
    std::vector<double> row(static_cast<std::size_t>(in_[2]));
    for_each_row([&](std::int64_t z, std::int64_t h) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::int64_t o = 0; o < columns_.count(); ++o) {
        spread_from(o, *y++, row.data());
      }
      for_each_input_row(z, h, [&](std::int64_t at, double weight) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          x[at + static_cast<std::int64_t>(i)] += static_cast<float>(weight * row[i]);
        }
      });
    });
  }

 private:
  template <class F>
  void for_each_row(const F& f) const {
    for (std::int64_t z = 0; z < rows_[0].count(); ++z) {
      for (std::int64_t h = 0; h < rows_[1].count(); ++h) {
        f(z, h);
      }
    }
  }
  /// Calls f(place, weight) for the input rows of an output row.
  template <class F>
  void for_each_input_row(std::int64_t z, std::int64_t h, const F& f) const {
    for_each_term(rows_, {z, h, 0}, {in_[0], in_[1], 1},
                  [&](std::int64_t row, double weight) { f(row * in_[2], weight); });
  }
  [[nodiscard]] double sum_at(std::int64_t o, const double* row) const {
    double sum = 0;
    for (auto i = first(o); i < first(o + 1); ++i) {
      sum += columns_.weight[i] * row[columns_.position[i]];
    }
    return sum;
  }
  void spread_from(std::int64_t o, float value, double* row) const {
    for (auto i = first(o); i < first(o + 1); ++i) {
      row[columns_.position[i]] += columns_.weight[i] * value;
    }
  }
  [[nodiscard]] std::size_t first(std::int64_t o) const {
    return static_cast<std::size_t>(columns_.first[static_cast<std::size_t>(o)]);
  }

  std::array<Taps, 3> rows_;  ///< one column
  Taps columns_;
  Spatial in_;
};

/// Calls body(from, to) for all planes, as f32.
template <class Body>
void for_each_plane(std::int64_t planes, DType dtype, const void* from, std::int64_t from_size,
                    void* to, std::int64_t to_size, const Body& body) {
  const std::int64_t step = rows_per_task(std::max(from_size, to_size));
  for_ranges(planes, step, [&](std::int64_t first, std::int64_t count) {
    std::vector<float> wide(dtype == DType::bf16 ? static_cast<std::size_t>(from_size + to_size)
                                                 : 0);
    for (std::int64_t plane = first; plane < first + count; ++plane) {
      if (dtype == DType::f32) {
        body(static_cast<const float*>(from) + plane * from_size,
             static_cast<float*>(to) + plane * to_size);
        continue;
      }
      const auto* narrow = static_cast<const BFloat16*>(from) + plane * from_size;
      std::transform(narrow, narrow + from_size, wide.begin(),
                     [](BFloat16 v) { return static_cast<float>(v); });
      body(wide.data(), wide.data() + from_size);
      std::transform(wide.begin() + from_size, wide.end(),
                     static_cast<BFloat16*>(to) + plane * to_size,
                     [](float v) { return BFloat16(v); });
    }
  });
}

}  // namespace

void resample(const Resampling& r, std::int64_t planes, DType dtype, const void* x, void* y) {
  const ResampledPlanes map(r);
  for_each_plane(planes, dtype, x, map.in_size(), y, map.out_size(),
                 [&](const float* from, float* to) { map.forward(from, to); });
}

void resample_backward(const Resampling& r, std::int64_t planes, DType dtype, const void* y,
                       void* x) {
  const ResampledPlanes map(r);
  for_each_plane(planes, dtype, y, map.out_size(), x, map.in_size(),
                 [&](const float* from, float* to) { map.backward(from, to); });
}

}  // namespace tessera::cpu
