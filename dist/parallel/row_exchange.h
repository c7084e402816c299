// Bringing the compact row gradients of embeddings together.
#pragma once

#include <vector>

#include <tessera/core/autograd/leaf.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// One rank's rows of one parameter: those of its microbatches, in order.
struct RankRows {
  std::vector<std::int64_t> ids;
  std::vector<float> values;  ///< (ids, width)
};

/// The rows of a rank's passes as plain numbers.
[[nodiscard]] RankRows flatten_rows(const RowGradient& rows);

/// Gathers the rows of all ranks, in rank order, which is microbatch order. `counts` holds every
/// rank's number of ids. Collective.
[[nodiscard]] RowGradient gather_rows(Communicator& comm, const RankRows& mine,
                                      const std::vector<std::int64_t>& counts, std::int64_t width,
                                      const std::string& label);

}  // namespace tessera::dist
