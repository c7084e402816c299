#include <tessera/kernels/cpu/embedding.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/elementwise.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {
namespace {

void check_ids(const char* op, const std::int64_t* ids, std::int64_t count, std::int64_t rows) {
  for (std::int64_t i = 0; i < count; ++i) {
    check(ids[i] >= 0 && ids[i] < rows, op, ": id is no row of the table; got ", ids[i],
          " at position ", i, ", expected 0 to ", rows - 1);
  }
}

/// Sums one id's rows.
template <class Number>
class IdSum {
 public:
  using Position = const std::int64_t*;

  explicit IdSum(const EmbeddingGradientOf<Number>& e)
      : e_(e),
        add_(IsaTable<NormTable>::get().add_of<Number>()),
        widen_(IsaTable<ElementwiseTable>::get().to_f32),
        per_cut_(e.count / e.cuts) {
    const auto levels =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(e.cuts)));
    buffers_ = scratch_array<Number>(Scratch::rows, (levels + 3) * e.columns);
  }

  /// [begin, end): the id's positions, ascending.
  void run(Position begin, Position end) {
    TreeSum<Number*> tree;
    const auto add = [this](Number* into, const Number* from) { add_(into, from, e_.columns); };
    for (Position at = begin; at != end;) {
      const std::int64_t cut = *at / per_cut_;
      const Position next = std::lower_bound(at, end, (cut + 1) * per_cut_);
      tree.settle(cut, add);
      Number* sum = buffer(1 + static_cast<std::int64_t>(tree.size()));
      piece(at, next, sum);
      tree.push(cut, sum);
      at = next;
    }
    tree.finish(add);
    add(e_.gradient + e_.ids[*begin] * e_.columns, tree.back());
  }

 private:
  Number* buffer(std::int64_t i) { return buffers_ + i * e_.columns; }

  void piece(Position begin, Position end, Number* sum) {
    std::fill_n(sum, e_.columns, Number(0));
    for (Position position = begin; position != end; ++position) {
      const std::int64_t at = *position * e_.columns;
      if (e_.dtype == dtype_of<Number>) {
        add_(sum, static_cast<const Number*>(e_.dy) + at, e_.columns);
      } else {
        widen_(static_cast<const BFloat16*>(e_.dy) + at, buffer(0), e_.columns);
        add_(sum, buffer(0), e_.columns);
      }
    }
  }

  const EmbeddingGradientOf<Number>& e_;
  void (*add_)(Number*, const Number*, std::int64_t);
  void (*widen_)(const void*, void*, std::int64_t);
  std::int64_t per_cut_;
  Number* buffers_ = nullptr;
};

}  // namespace

template <class Number>
void embedding_backward(const EmbeddingGradientOf<Number>& e) {
  check_ids("add_rows", e.ids, e.count, e.table_rows);
  check(e.cuts >= 1 && e.count % e.cuts == 0,
        "embedding: tokens cannot be cut into equal parts; got ", e.count, ", cuts ", e.cuts,
        ", expected a divisor");
  std::vector<std::int64_t> positions(static_cast<std::size_t>(e.count));
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  std::stable_sort(positions.begin(), positions.end(),
                   [&](std::int64_t a, std::int64_t b) { return e.ids[a] < e.ids[b]; });
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (i == 0 || e.ids[positions[i]] != e.ids[positions[i - 1]]) {
      starts.push_back(i);
    }
  }
  starts.push_back(positions.size());
  constexpr std::int64_t kIdsPerTask = 16;
  for_ranges(static_cast<std::int64_t>(starts.size()) - 1, kIdsPerTask,
             [&](std::int64_t first, std::int64_t n) {
               IdSum<Number> sum(e);
               for (auto i = static_cast<std::size_t>(first); n > 0; ++i, --n) {
                 sum.run(positions.data() + starts[i], positions.data() + starts[i + 1]);
               }
             });
}

template <class Number>
void embedding_forward(const Number* table, std::int64_t table_rows, std::int64_t columns,
                       const std::int64_t* ids, std::int64_t count, DType dtype, void* y) {
  check_ids("embedding", ids, count, table_rows);
  const auto round = IsaTable<ElementwiseTable>::get().to_bf16;
  for_ranges(count, rows_per_task(columns), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t i = first; i < first + n; ++i) {
      const Number* row = table + ids[i] * columns;
      if (dtype == DType::bf16) {
        round(row, static_cast<BFloat16*>(y) + i * columns, columns);
      } else {
        std::copy_n(row, columns, static_cast<Number*>(y) + i * columns);
      }
    }
  });
}

template void embedding_forward(const float*, std::int64_t, std::int64_t, const std::int64_t*,
                                std::int64_t, DType, void*);
template void embedding_forward(const double*, std::int64_t, std::int64_t, const std::int64_t*,
                                std::int64_t, DType, void*);
template void embedding_backward(const EmbeddingGradientOf<float>&);
template void embedding_backward(const EmbeddingGradientOf<double>&);

}  // namespace tessera::cpu
