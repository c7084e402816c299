// Bringing the sparse gradients of embeddings together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/core/autograd/sparse_gradient.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/microbatch_blocks.h>

namespace tessera::dist {

/// Number of rows of every rank.
using RowCounts = std::vector<std::int64_t>;

/// A rank's sparse gradient of one parameter, over all its microbatches, where the parameter lies.
/// `rows` may be undefined: none.
[[nodiscard]] SparseGradient sparse_of_rank(const SparseGradient& rows,
                                            MicrobatchRange microbatches, const Tensor& parameter);

/// Gathers the rows of all ranks, in rank order, which is microbatch order; they count as memory of
/// communication. `mine` is of `sparse_of_rank`. Collective.
[[nodiscard]] SparseGradient gather_sparse(Communicator& comm, const MicrobatchBlocks& blocks,
                                           const SparseGradient& mine, const RowCounts& counts,
                                           const std::string& label);

/// Whether rows cost more to gather than a table of all the parameter's rows to all-reduce.
[[nodiscard]] bool is_better_as_table(const RowCounts& counts, std::int64_t table_rows);

/// The sums of all ranks' rows as a table of the parameter's shape; -0 in rows that nobody names,
/// which changes nothing that it is added to. The same bits as adding the gathered rows.
/// Collective.
[[nodiscard]] Tensor reduce_sparse(Communicator& comm, const MicrobatchBlocks& blocks,
                                   const SparseGradient& mine, const Tensor& parameter,
                                   const std::string& label);

/// Adds all ranks' rows, `rows` of this one's, to `gradient`, the ranks' dense gradient of
/// `parameter`. Collective.
void add_sparse_of_ranks(Communicator& comm, const MicrobatchBlocks& blocks,
                         const SparseGradient& rows, const RowCounts& counts,
                         const Tensor& gradient, const Tensor& parameter, const std::string& label);

}  // namespace tessera::dist
