#include <tessera/dist/parallel/row_exchange.h>

#include <algorithm>
#include <numeric>
#include <span>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

/// Gathers `width` numbers an id from every rank; ranks with fewer ids pad.
template <class T>
std::vector<T> gather_uneven(Communicator& comm, std::vector<T> mine,
                             const std::vector<std::int64_t>& counts, std::int64_t width,
                             const std::string& label) {
  const auto most = static_cast<std::size_t>(std::ranges::max(counts) * width);
  mine.resize(most);
  std::vector<T> padded(most * counts.size());
  all_gather<T>(comm, mine, padded, label).wait();
  std::vector<T> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const auto begin = padded.begin() + static_cast<std::ptrdiff_t>(r * most);
    all.insert(all.end(), begin, begin + counts[r] * width);
  }
  return all;
}

/// `count` rows from row `first` on, which are `parts` microbatches.
RowGradient part_of(const RankRows& rows, std::int64_t first, std::int64_t count,
                    std::int64_t width, std::int64_t parts) {
  const std::span<const std::int64_t> ids(rows.ids);
  const std::span<const float> values(rows.values);
  const auto begin = static_cast<std::size_t>(first);
  const auto n = static_cast<std::size_t>(count);
  const auto w = static_cast<std::size_t>(width);
  return {.ids = from_values<std::int64_t>(ids.subspan(begin, n), {count}),
          .values = from_values<float>(values.subspan(begin * w, n * w), {count, width}),
          .parts = static_cast<std::int32_t>(parts)};
}

}  // namespace

RankRows flatten_rows(const RowGradient& rows) {
  if (!rows.defined()) {
    return {};
  }
  const Tensor values = contiguous(cast(rows.values, DType::f32));
  const float* data = values.data<float>();
  return {.ids = rows.ids.to_vector<std::int64_t>(),
          .values = std::vector<float>(data, data + values.numel())};
}

RowGradient gather_rows(Communicator& comm, const RankRows& mine,
                        const std::vector<std::int64_t>& counts, std::int64_t width,
                        const std::string& label) {
  const auto ids = gather_uneven(comm, mine.ids, counts, 1, label);
  const auto values = gather_uneven(comm, mine.values, counts, width, label);
  const auto n = static_cast<std::int64_t>(ids.size());
  return {.ids = from_values<std::int64_t>(ids, {n}),
          .values = from_values<float>(values, {n, width})};
}

bool is_better_as_table(const std::vector<std::int64_t>& counts, std::int64_t table_rows) {
  const auto ranks = static_cast<std::int64_t>(counts.size());
  return ranks > 1 && std::ranges::max(counts) * ranks >= 2 * table_rows;
}

Tensor reduce_rows(Communicator& comm, const RowGradient& mine, const std::vector<TreeLeaf>& blocks,
                   const std::shared_ptr<const ReductionTree>& tree, const TensorMeta& parameter,
                   const std::string& label) {
  const auto held = static_cast<std::int64_t>(blocks.size());
  const std::int64_t rows = parameter.shape[0];
  const std::int64_t width = parameter.shape.back();
  const Tensor sums = full({held, rows, width}, -0.0);
  const RankRows plain = flatten_rows(mine);
  const std::int64_t per_part = mine.count() / mine.parts;
  for (std::int64_t b = 0, row = 0; b < held && per_part > 0; ++b) {
    const std::int64_t parts = blocks[static_cast<std::size_t>(b)].size;
    const Tensor table = select(sums, 0, b);
    static_cast<void>(
        add_rows(table, part_of(plain, row, parts * per_part, width, parts), parameter, table));
    row += parts * per_part;
  }
  Tensor total = empty({rows, width});
  Collective c =
      collective_of<float>(CollectiveKind::all_reduce, sums.data<float>(), total.data<float>(),
                           static_cast<std::size_t>(rows * width), label);
  c.tree = tree;
  comm.launch(std::move(c)).wait();
  return total;
}

}  // namespace tessera::dist
