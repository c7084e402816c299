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

template <class T>
Room<T> room_of(const Tensor& x) {
  const Tensor dense = contiguous(x);
  const T* data = dense.data<T>();
  return {data, data + dense.numel()};
}

/// Gathers `width` numbers an id from every rank.
template <class T>
Room<T> gather_all(Communicator& comm, const Room<T>& mine, const Counts& ids, std::int64_t width,
                   const std::string& label) {
  std::vector<std::size_t> counts;
  for (const std::int64_t n : ids) {
    counts.push_back(static_cast<std::size_t>(n * width));
  }
  Room<T> all(std::reduce(counts.begin(), counts.end()));
  all_gather<T>(comm, mine, all, std::move(counts), label).wait();
  return all;
}

/// The rows of consecutive microbatches, of which the first one's begin at row `begin`.
SparseGradient part_of(const RankRows& rows, std::int64_t begin,
                       std::span<const std::int64_t> lengths, std::int64_t width) {
  const std::span<const std::int64_t> ids(rows.ids);
  const std::span<const float> values(rows.values);
  const std::int64_t count = std::reduce(lengths.begin(), lengths.end());
  const auto at = static_cast<std::size_t>(begin);
  const auto n = static_cast<std::size_t>(count);
  const auto w = static_cast<std::size_t>(width);
  return {.ids = from_values<std::int64_t>(ids.subspan(at, n), {count}),
          .values = from_values<float>(values.subspan(at * w, n * w), {count, width}),
          .parts = static_cast<std::int32_t>(lengths.size()),
          .lengths = {lengths.begin(), lengths.end()}};
}

}  // namespace

RankRows flatten_rows(const SparseGradient& rows, MicrobatchRange microbatches) {
  if (!rows.defined()) {
    return {.lengths = Room<std::int64_t>(static_cast<std::size_t>(microbatches.count))};
  }
  const auto& lengths = rows.within(microbatches.first, microbatches.count).lengths;
  return {.ids = room_of<std::int64_t>(rows.ids),
          .values = room_of<float>(cast(rows.values, DType::f32)),
          .lengths = {lengths.begin(), lengths.end()}};
}

SparseGradient gather_rows(Communicator& comm, const RankRows& mine, const Counts& ids,
                           const Counts& microbatches, std::int64_t width,
                           const std::string& label) {
  const CategoryScope category(MemoryCategory::communication);
  const RankRows all{.ids = gather_all(comm, mine.ids, ids, 1, label),
                     .values = gather_all(comm, mine.values, ids, width, label),
                     .lengths = gather_all(comm, mine.lengths, microbatches, 1, label)};
  return part_of(all, 0, all.lengths, width);
}

bool is_better_as_table(const Counts& ids, std::int64_t table_rows) {
  const auto ranks = static_cast<std::int64_t>(ids.size());
  return ranks > 1 && std::ranges::max(ids) * ranks >= 2 * table_rows;
}

Tensor reduce_rows(Communicator& comm, const RankRows& mine, const std::vector<TreeLeaf>& blocks,
                   const std::shared_ptr<const ReductionTree>& tree, const TensorMeta& parameter,
                   const std::string& label) {
  const CategoryScope category(MemoryCategory::communication);
  const auto held = static_cast<std::int64_t>(blocks.size());
  const std::int64_t rows = parameter.shape[0];
  const std::int64_t width = parameter.shape.back();
  const Tensor sums = full({held, rows, width}, -0.0);
  std::span<const std::int64_t> lengths(mine.lengths);
  for (std::int64_t b = 0, row = 0; b < held; ++b) {
    const auto parts = static_cast<std::size_t>(blocks[static_cast<std::size_t>(b)].size);
    const SparseGradient part = part_of(mine, row, lengths.first(parts), width);
    lengths = lengths.subspan(parts);
    row += part.count();
    if (const Tensor table = select(sums, 0, b); part.count() > 0) {
      static_cast<void>(add_rows(table, part, parameter, table));
    }
  }
  Tensor total = empty({rows, width});
  Collective c{.kind = CollectiveKind::all_reduce};
  c.send = Operand(sums);
  c.receive = Operand(total);
  c.count = static_cast<std::size_t>(rows * width);
  c.label = label;
  c.tree = tree;
  comm.launch(std::move(c)).wait();
  return total;
}

}  // namespace tessera::dist
