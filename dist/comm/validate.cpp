#include <tessera/dist/comm/validate.h>

#include <algorithm>
#include <numeric>

#include <tessera/core/base/error.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist {
namespace {

void validate_peer(const Collective& c, int rank, int size) {
  if (c.kind != CollectiveKind::broadcast && !is_point_to_point(c.kind)) {
    return;
  }
  check(c.peer >= 0 && c.peer < size, c.kind, ": peer outside the group; got ", c.peer,
        ", expected 0 to ", size - 1);
  check(c.kind == CollectiveKind::broadcast || c.peer != rank, c.kind,
        ": a rank cannot be its own peer; got ", c.peer);
}

void validate_tree(const Collective& c, int size) {
  if (!is_reduction(c.kind)) {
    check(c.tree == nullptr, c.kind, ": only reductions take a tree");
    return;
  }
  check_reducible(c.reduce, c.dtype);
  if (c.tree == nullptr) {
    return;
  }
  int ranks = 0;
  for (const TreeLeaf& leaf : c.tree->leaves()) {
    ranks = std::max(ranks, leaf.rank + 1);
  }
  check(ranks == size, c.kind, ": the tree is of another group; got one over ", ranks,
        " ranks, expected ", size);
}

void validate_counts(const Collective& c, int rank, int size) {
  if (c.counts.empty()) {
    return;
  }
  const bool has_parts =
      c.kind == CollectiveKind::all_gather || c.kind == CollectiveKind::reduce_scatter;
  check(has_parts, c.kind, ": only all_gather and reduce_scatter take counts by rank");
  check(std::ssize(c.counts) == size, c.kind, ": wrong number of counts; got ", c.counts.size(),
        ", expected one for each of ", size, " ranks");
  const std::size_t own = c.counts[static_cast<std::size_t>(rank)];
  check(c.count == own, c.kind, ": the count is not this rank's; got ", c.count, ", expected ", own,
        " as in the counts by rank");
}

void validate_operand(const Collective& c, const char* which, const Operand& operand,
                      std::size_t elements) {
  check(elements == 0 || operand.data() != nullptr, c.kind, ": ", which, " is null; got count ",
        c.count);
  if (!operand || operand.nbytes() == Operand::kUnknown) {
    return;
  }
  const std::size_t held = operand.nbytes() / size_of(c.dtype);
  check(elements <= held, c.kind, ": ", which, " is too small; got ", held, " ", c.dtype,
        ", expected ", elements);
  check(!operand.dtype() || operand.dtype() == c.dtype, c.kind, ": ", which,
        " has another dtype; got ", operand.dtype().value_or(c.dtype), ", expected ", c.dtype);
}

}  // namespace

void validate(const Collective& c, int rank, int size) {
  validate_peer(c, rank, size);
  validate_tree(c, size);
  validate_counts(c, rank, size);
  if (c.kind == CollectiveKind::barrier) {
    return;
  }
  validate_operand(c, "send", c.send, given_count(c, rank, size));
  const bool root = c.kind == CollectiveKind::broadcast && c.peer == rank;
  validate_operand(c, "receive", c.receive, root && !c.receive ? 0 : taken_count(c, size));
}

std::size_t given_count(const Collective& c, int rank, int size) {
  if (c.counts.empty()) {
    return send_count(c, rank, size);
  }
  const auto blocks = static_cast<std::size_t>(blocks_of(c, rank));
  return c.kind == CollectiveKind::all_gather
             ? c.count
             : std::reduce(c.counts.begin(), c.counts.end()) * blocks;
}

std::size_t taken_count(const Collective& c, int size) {
  if (c.counts.empty()) {
    return receive_count(c, size);
  }
  return c.kind == CollectiveKind::all_gather ? std::reduce(c.counts.begin(), c.counts.end())
                                              : c.count;
}

int blocks_of(const Collective& c, int rank) {
  if (c.tree == nullptr) {
    return 1;
  }
  return static_cast<int>(std::ranges::count(c.tree->leaves(), rank, &TreeLeaf::rank));
}

std::size_t send_count(const Collective& c, int rank, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  switch (c.kind) {
    case CollectiveKind::all_reduce:
      return c.count * static_cast<std::size_t>(blocks_of(c, rank));
    case CollectiveKind::reduce_scatter:
      return c.count * ranks * static_cast<std::size_t>(blocks_of(c, rank));
    case CollectiveKind::all_to_all:
      return c.count * ranks;
    case CollectiveKind::all_gather:
    case CollectiveKind::send:
      return c.count;
    case CollectiveKind::broadcast:
      return c.peer == rank ? c.count : 0;
    case CollectiveKind::receive:
    case CollectiveKind::barrier:
      return 0;
  }
  return 0;
}

std::size_t receive_count(const Collective& c, int size) {
  switch (c.kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return c.count * static_cast<std::size_t>(size);
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
    case CollectiveKind::receive:
      return c.count;
    case CollectiveKind::send:
    case CollectiveKind::barrier:
      return 0;
  }
  return 0;
}

}  // namespace tessera::dist
