#include <tessera/dist/comm/tensor_collectives.h>

#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

std::size_t elements(const Tensor& x) {
  return static_cast<std::size_t>(x.numel());
}

/// `x` is where a collective begins or ends; its dtype is the collective's.
Collective on(CollectiveKind kind, const Tensor& x, std::string label) {
  return {.kind = kind, .dtype = x.dtype(), .count = elements(x), .label = std::move(label)};
}

/// Checks that `all` holds a part like `mine` for each rank, or one of counts[r] elements for rank
/// r.
void check_whole(const char* what, const Communicator& comm, const Tensor& all, const Tensor& mine,
                 const std::vector<std::size_t>& counts) {
  if (!counts.empty()) {
    check_sum(what, elements(all), counts);
    return;
  }
  check(elements(all) == elements(mine) * static_cast<std::size_t>(comm.size()), what, "; got ",
        all.numel(), " elements, expected ", comm.size(), " * ", mine.numel());
}

Collective with_peer(Collective c, int peer) {
  c.peer = peer;
  return c;
}

}  // namespace

Work all_reduce(Communicator& comm, const Tensor& x, ReduceOp op, std::string label) {
  Collective c = on(CollectiveKind::all_reduce, x, std::move(label));
  c.reduce = op;
  c.send = c.receive = Operand(x);
  return comm.launch(std::move(c));
}

Work all_gather(Communicator& comm, const Tensor& mine, const Tensor& all, std::string label,
                std::vector<std::size_t> counts) {
  check_whole("all_gather: wrong size of the result", comm, all, mine, counts);
  Collective c = on(CollectiveKind::all_gather, mine, std::move(label));
  c.send = Operand(mine);
  c.receive = Operand(all);
  c.counts = std::move(counts);
  return comm.launch(std::move(c));
}

Work reduce_scatter(Communicator& comm, const Tensor& all, const Tensor& mine, ReduceOp op,
                    std::string label, std::vector<std::size_t> counts) {
  check_whole("reduce_scatter: wrong size of the input", comm, all, mine, counts);
  Collective c = on(CollectiveKind::reduce_scatter, mine, std::move(label));
  c.reduce = op;
  c.send = Operand(all);
  c.receive = Operand(mine);
  c.counts = std::move(counts);
  return comm.launch(std::move(c));
}

Work all_to_all(Communicator& comm, const Tensor& parts, const Tensor& received,
                std::string label) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  check(parts.numel() == received.numel() && elements(parts) % ranks == 0,
        "all_to_all: sizes must be equal and divisible by the group's; got ", parts.numel(),
        " and ", received.numel(), ", expected a multiple of ", ranks);
  Collective c = on(CollectiveKind::all_to_all, parts, std::move(label));
  c.send = Operand(parts);
  c.receive = Operand(received);
  c.count /= ranks;
  return comm.launch(std::move(c));
}

Work broadcast(Communicator& comm, const Tensor& x, int root, std::string label) {
  Collective c = with_peer(on(CollectiveKind::broadcast, x, std::move(label)), root);
  c.send = c.receive = Operand(x);
  return comm.launch(std::move(c));
}

Work send(Communicator& comm, const Tensor& x, int to, std::string label) {
  Collective c = with_peer(on(CollectiveKind::send, x, std::move(label)), to);
  c.send = Operand(x);
  return comm.launch(std::move(c));
}

Work receive(Communicator& comm, const Tensor& x, int from, std::string label) {
  Collective c = with_peer(on(CollectiveKind::receive, x, std::move(label)), from);
  c.receive = Operand(x);
  return comm.launch(std::move(c));
}

}  // namespace tessera::dist
