// Collectives on tensors, of any device, in stream order: each begins after the work on its tensors
// that was launched before, and later work on them, on any stream, comes after it, though nobody
// waits (Collective, dist/comm/collective.h). Each launches and returns at once. Tensors are dense
// and have one dtype; where two are equal the collective is in place. All throw InvalidArgument
// where sizes do not fit.
#pragma once

#include <string>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Reduces `x` over all ranks, in place.
Work all_reduce(Communicator& comm, const Tensor& x, ReduceOp op = ReduceOp::sum,
                std::string label = {});

/// Gathers every rank's `mine` into `all`, in rank order. With `counts`, elements by rank, parts
/// may be uneven; without, `all` has size() times the elements of `mine`.
Work all_gather(Communicator& comm, const Tensor& mine, const Tensor& all, std::string label = {},
                std::vector<std::size_t> counts = {});

/// Reduces `all` over ranks and keeps this rank's part of it in `mine`; sizes as of `all_gather`.
Work reduce_scatter(Communicator& comm, const Tensor& all, const Tensor& mine,
                    ReduceOp op = ReduceOp::sum, std::string label = {},
                    std::vector<std::size_t> counts = {});

/// Sends part r of `parts` to rank r; part r of `received` comes from rank r.
Work all_to_all(Communicator& comm, const Tensor& parts, const Tensor& received,
                std::string label = {});

/// Makes `x` on every rank what it is on `root`.
Work broadcast(Communicator& comm, const Tensor& x, int root, std::string label = {});

Work send(Communicator& comm, const Tensor& x, int to, std::string label = {});
Work receive(Communicator& comm, const Tensor& x, int from, std::string label = {});

}  // namespace tessera::dist
