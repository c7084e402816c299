#include <tessera/kernels/cpu/offset_product.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/device/allocator.h>
#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kColumns = 128;  ///< of a task: what each packed row of A is used for

/// The steps of k that are multiplied at once.
struct Depth {
  std::int64_t first, count;
};

class Factors {
 public:
  explicit Factors(const OffsetProduct& product)
      : p_(product),
        kernel_(IsaTable<ProductTable>::get().f64),
        rows_(round_up(product.m, kernel_.rows)),
        depth_(std::ssize(product.b.rows)),
        packed_(static_cast<std::size_t>(rows_ * depth_) * sizeof(double)) {
    const std::int64_t chunks = divide_up(depth_, kernel_.words_at_once);
    for_ranges(chunks, 1, [&](std::int64_t chunk, std::int64_t) { pack_rows(depth_at(chunk)); });
  }

  /// C's columns [first, first + count).
  void run(std::int64_t first, std::int64_t count) const {
    auto* sums = scratch_array<double>(Scratch::tiles, rows_ * kColumns);
    auto* panels = scratch_array<double>(Scratch::panels, kernel_.words_at_once * kColumns);
    if (depth_ == 0) {
      std::fill_n(sums, rows_ * kColumns, 0.0);
    }
    for (std::int64_t chunk = 0; chunk * kernel_.words_at_once < depth_; ++chunk) {
      const Depth depth = depth_at(chunk);
      for (std::int64_t j = 0; j < count; j += kernel_.columns) {
        pack_panel(depth, first + j, std::min<std::int64_t>(kernel_.columns, count - j),
                   panels + j * depth.count);
      }
      multiply_chunk(depth, count, panels, sums);
    }
    store(sums, first, count);
  }

 private:
  [[nodiscard]] Depth depth_at(std::int64_t chunk) const {
    const std::int64_t first = chunk * kernel_.words_at_once;
    return {first, std::min<std::int64_t>(kernel_.words_at_once, depth_ - first)};
  }

  void pack_rows(const Depth& depth) const {
    const auto* a = static_cast<const double*>(p_.a.data) + depth.first * p_.a.column_stride;
    kernel_.pack_rows({a, DType::f64, p_.a.row_stride, p_.a.column_stride, p_.m, depth.count},
                      packed_.as<std::uint64_t>() + depth.first * rows_);
  }

  /// Columns that follow each other in memory are copied as they are.
  void pack_panel(const Depth& depth, std::int64_t column, std::int64_t count, double* out) const {
    const std::int64_t* columns = p_.b.columns.data() + column;
    const bool together = count == kernel_.columns && columns[count - 1] - columns[0] == count - 1;
    for (std::int64_t k = 0; k < depth.count; ++k, out += kernel_.columns) {
      const double* row = p_.b.data + p_.b.rows[static_cast<std::size_t>(depth.first + k)];
      if (together) {
        std::memcpy(out, row + columns[0], static_cast<std::size_t>(count) * sizeof(double));
        continue;
      }
      for (std::int64_t j = 0; j < kernel_.columns; ++j) {
        out[j] = j < count ? row[columns[j]] : 0.0;
      }
    }
  }

  void multiply_chunk(const Depth& depth, std::int64_t count, const double* panels,
                      double* sums) const {
    const auto* a = packed_.as<std::uint64_t>() + depth.first * rows_;
    for (std::int64_t i = 0; i < rows_; i += kernel_.rows) {
      const std::uint64_t* rows = a + i * depth.count;
      for (std::int64_t j = 0; j < count; j += kernel_.columns) {
        kernel_.tile(kernel_.rows, depth.count, rows,
                     reinterpret_cast<const std::uint64_t*>(panels + j * depth.count),
                     sums + i * kColumns + j, kColumns,
                     depth.first > 0 ? TileSum::continued : TileSum::fresh,
                     {reinterpret_cast<const char*>(rows + kernel_.rows * depth.count),
                      kernel_.rows * static_cast<std::int64_t>(sizeof(double))});
      }
    }
  }

  void store(const double* sums, std::int64_t first, std::int64_t count) const {
    const std::int64_t* columns = p_.c_columns.data() + first;
    for (std::int64_t i = 0; i < p_.m; ++i) {
      double* row = p_.c + i * p_.c_row;
      const double bias = p_.bias == nullptr ? -0.0 : p_.bias[i];  // -0 changes nothing
      for (std::int64_t j = 0; j < count; ++j) {
        row[columns[j]] = sums[i * kColumns + j] + bias;
      }
    }
  }

  const OffsetProduct& p_;
  const ProductKernelOf<double>& kernel_;
  std::int64_t rows_, depth_;
  HeldMemory packed_;
};

}  // namespace

void multiply(const OffsetProduct& product) {
  const Factors factors(product);
  for_ranges(std::ssize(product.b.columns), kColumns,
             [&](std::int64_t first, std::int64_t count) { factors.run(first, count); });
}

}  // namespace tessera::cpu
