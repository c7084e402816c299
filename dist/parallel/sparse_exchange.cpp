#include <tessera/dist/parallel/sparse_exchange.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/dist/comm/tensor_collectives.h>

namespace tessera::dist {
namespace {

/// `mine`, of counts[rank] rows, and the other ranks', one behind the other.
Tensor gather_all(Communicator& comm, const Tensor& mine, const RowCounts& counts,
                  const std::string& label) {
  Shape shape = mine.shape();
  const std::int64_t width = shape.size() > 1 ? shape.back() : 1;
  shape[0] = std::reduce(counts.begin(), counts.end());
  Tensor all = empty(shape, {.dtype = mine.dtype(), .device = mine.device()});
  std::vector<std::size_t> elements;
  for (const std::int64_t count : counts) {
    elements.push_back(static_cast<std::size_t>(count * width));
  }
  all_gather(comm, mine, all, label, std::move(elements)).wait();
  return all;
}

/// The rows of consecutive microbatches, of which the first one's begin at row `begin`.
SparseGradient rows_of_microbatches(const SparseGradient& rows, std::int64_t begin,
                                    std::span<const std::int64_t> lengths) {
  const std::int64_t end = begin + std::reduce(lengths.begin(), lengths.end());
  return {.ids = slice(rows.ids, 0, begin, end),
          .values = slice(rows.values, 0, begin, end),
          .microbatch_count = static_cast<std::int32_t>(lengths.size()),
          .lengths = {lengths.begin(), lengths.end()}};
}

}  // namespace

SparseGradient sparse_of_rank(const SparseGradient& rows, MicrobatchRange microbatches,
                              const Tensor& parameter) {
  if (!rows.defined()) {
    const Device device = parameter.device();
    return {.ids = empty({0}, {.dtype = DType::i64, .device = device}),
            .values = empty({0, parameter.size(-1)}, {.device = device}),
            .microbatch_count = static_cast<std::int32_t>(microbatches.count),
            .lengths = std::vector<std::int64_t>(static_cast<std::size_t>(microbatches.count))};
  }
  SparseGradient mine = flattened(rows.within(microbatches.first, microbatches.count));
  mine.values = contiguous(cast(mine.values, DType::f32));
  return mine;
}

SparseGradient gather_sparse(Communicator& comm, const MicrobatchBlocks& blocks,
                             const SparseGradient& mine, const RowCounts& counts,
                             const std::string& label) {
  const CategoryScope category(MemoryCategory::communication);
  SparseGradient all{.ids = gather_all(comm, mine.ids, counts, label),
                     .values = gather_all(comm, mine.values, counts, label)};
  std::vector<std::size_t> microbatches;
  for (int r = 0; r < comm.size(); ++r) {
    microbatches.push_back(static_cast<std::size_t>(blocks.share_of(r).count));
  }
  all.lengths.resize(static_cast<std::size_t>(blocks.grain()));
  all_gather<std::int64_t>(comm, mine.lengths, std::span(all.lengths), std::move(microbatches),
                           label)
      .wait();
  all.microbatch_count = static_cast<std::int32_t>(blocks.grain());
  return all;
}

bool is_better_as_table(const RowCounts& counts, std::int64_t table_rows) {
  const auto ranks = static_cast<std::int64_t>(counts.size());
  return ranks > 1 && std::ranges::max(counts) * ranks >= 2 * table_rows;
}

Tensor reduce_sparse(Communicator& comm, const MicrobatchBlocks& blocks, const SparseGradient& mine,
                     const Tensor& parameter, const std::string& label) {
  const CategoryScope category(MemoryCategory::communication);
  const TensorMeta meta(parameter.get());
  const Shape& shape = parameter.shape();
  const Tensor sums = full({std::ssize(blocks.own()), shape[0], shape.back()}, -0.0,
                           {.device = parameter.device()});
  std::span<const std::int64_t> lengths(mine.lengths);
  std::int64_t row = 0;
  for (std::size_t b = 0; b < blocks.own().size(); ++b) {
    const auto microbatch_count = static_cast<std::size_t>(blocks.own()[b].size);
    const SparseGradient block = rows_of_microbatches(mine, row, lengths.first(microbatch_count));
    lengths = lengths.subspan(microbatch_count);
    row += block.count();
    if (const Tensor table = select(sums, 0, static_cast<std::int64_t>(b)); block.count() > 0) {
      static_cast<void>(add_sparse(table, block, meta, table));
    }
  }
  Tensor total = empty({shape[0], shape.back()}, {.device = parameter.device()});
  Collective c{.kind = CollectiveKind::all_reduce};
  c.send = Operand(sums);
  c.receive = Operand(total);
  c.count = static_cast<std::size_t>(total.numel());
  c.label = label;
  c.tree = blocks.tree();
  comm.launch(std::move(c)).wait();
  return total;
}

void add_sparse_of_ranks(Communicator& comm, const MicrobatchBlocks& blocks,
                         const SparseGradient& rows, const RowCounts& counts,
                         const Tensor& gradient, const Tensor& parameter,
                         const std::string& label) {
  const SparseGradient mine = sparse_of_rank(rows, blocks.share_of(comm.rank()), parameter);
  if (is_better_as_table(counts, parameter.shape()[0])) {
    const Tensor sums = reduce_sparse(comm, blocks, mine, parameter, label);
    static_cast<void>(call_into<Add>(gradient, {gradient, sums}));
    return;
  }
  const SparseGradient all = gather_sparse(comm, blocks, mine, counts, label);
  static_cast<void>(add_sparse(gradient, all, TensorMeta(parameter.get()), gradient));
}

}  // namespace tessera::dist
