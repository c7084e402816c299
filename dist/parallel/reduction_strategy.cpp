#include <tessera/dist/parallel/reduction_strategy.h>

#include <utility>

namespace tessera::dist {
namespace {

bool spans_hosts(const Communicator& comm) {
  for (int r = 0; r < comm.size(); ++r) {
    if (comm.host(r) != comm.host(comm.rank())) {
      return true;
    }
  }
  return false;
}

}  // namespace

Collective GradientMemory::sum_of(FlatRange range, std::string label) const {
  Collective c{.kind = CollectiveKind::all_reduce};
  c.send = c.receive = flat.from(range.first * tree->max_blocks());
  c.count = static_cast<std::size_t>(range.count());
  c.label = std::move(label);
  c.tree = tree;
  return c;
}

AllReduce::AllReduce(const std::shared_ptr<Communicator>& comm) : groups_{comm} {
  if (spans_hosts(*comm)) {
    groups_.push_back(comm->split(0, comm->rank(), comm->name() + "/second"));
  }
}

Work AllReduce::reduce(const GradientMemory& gradients, FlatRange range, std::string label) {
  Communicator& group = *groups_[launched_ % groups_.size()];
  const Work work = group.launch(gradients.sum_of(range, std::move(label)));
  ++launched_;  // not one that was refused: the other ranks have no such one
  return work;
}

}  // namespace tessera::dist
