// Bringing the compact sparse gradients of embeddings together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/base/grain.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist {

/// One rank's rows of one parameter: those of its microbatches, in order.
struct RankRows {
  Room<std::int64_t> ids;
  Room<float> values;          ///< (ids, width)
  Room<std::int64_t> lengths;  ///< rows of each of its microbatches
};

/// The rows of a rank's passes as plain numbers; `microbatches` are all that the rank runs.
[[nodiscard]] RankRows flatten_rows(const SparseGradient& rows, MicrobatchRange microbatches);

/// How many there are of something on every rank.
using Counts = std::vector<std::int64_t>;

/// Gathers the rows of all ranks, in rank order, which is microbatch order; they count as memory of
/// communication. `ids` and `microbatches` count those of every rank. Collective.
[[nodiscard]] SparseGradient gather_rows(Communicator& comm, const RankRows& mine,
                                         const Counts& ids, const Counts& microbatches,
                                         std::int64_t width, const std::string& label);

/// Whether rows cost more to gather than a table of all the parameter's rows to all-reduce.
[[nodiscard]] bool is_better_as_table(const Counts& ids, std::int64_t table_rows);

/// The sums of all ranks' rows as a table of the parameter's shape; -0 in rows that nobody names,
/// which changes nothing that it is added to. The same bits as adding the gathered rows. `blocks`
/// are this rank's of `tree`. Collective.
[[nodiscard]] Tensor reduce_rows(Communicator& comm, const RankRows& mine,
                                 const std::vector<TreeLeaf>& blocks,
                                 const std::shared_ptr<const ReductionTree>& tree,
                                 const TensorMeta& parameter, const std::string& label);

}  // namespace tessera::dist
