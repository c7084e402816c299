#include <tessera/dist/comm/validate.h>

#include <algorithm>
#include <numeric>

#include <tessera/core/base/error.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist {
namespace {

/// More elements than any memory holds, of the largest dtype: so many bytes are no overflow.
constexpr std::size_t kTooMany = Operand::kUnknown / 16;

/// The largest number there is instead of an overflow.
std::size_t product(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Operand::kUnknown : result;
}

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
  check(std::ranges::max(c.counts) < kTooMany / c.counts.size(), c.kind,
        ": more elements than memory holds; got count ", std::ranges::max(c.counts));
  const std::size_t own = c.counts[static_cast<std::size_t>(rank)];
  check(c.count == own, c.kind, ": the count is not this rank's; got ", c.count, ", expected ", own,
        " as in the counts by rank");
}

void validate_operand(const Collective& c, const char* which, const Operand& operand,
                      std::size_t elements) {
  check(elements == 0 || operand.data() != nullptr, c.kind, ": ", which, " is null; got count ",
        c.count);
  check(elements < kTooMany, c.kind, ": more elements than memory holds; got count ", c.count);
  if (!operand || operand.nbytes() == Operand::kUnknown) {
    return;
  }
  const std::size_t held = operand.nbytes() / size_of(c.dtype);
  check(elements <= held, c.kind, ": ", which, " is too small; got ", held, " ", c.dtype,
        ", expected ", elements);
  check(!operand.dtype() || operand.dtype() == c.dtype, c.kind, ": ", which,
        " has another dtype; got ", operand.dtype().value_or(c.dtype), ", expected ", c.dtype);
}

/// Elements of other ranks' parts before this rank's.
std::size_t before_part(const Collective& c, int rank) {
  const auto ranks = static_cast<std::size_t>(rank);
  return c.counts.empty()
             ? c.count * ranks
             : std::reduce(c.counts.begin(), c.counts.begin() + static_cast<std::ptrdiff_t>(rank));
}

/// What is written may lie where it is read from, or, of what is gathered or scattered, the part
/// that is this rank's own. Anything else would be read by one rank before another has written to
/// it, or after, as it happens.
void validate_overlap(const Collective& c, int rank, std::size_t sent, std::size_t received) {
  const std::byte* send = c.send.data();
  const std::byte* receive = c.receive.data();
  const std::size_t element = size_of(c.dtype);
  if (send == receive || c.send.device() != c.receive.device() || sent == 0 || received == 0 ||
      send >= receive + received * element || receive >= send + sent * element) {
    return;
  }
  const std::size_t own = before_part(c, rank) * element;
  const bool gathers = c.kind == CollectiveKind::all_gather && send == receive + own;
  const bool scatters = c.kind == CollectiveKind::reduce_scatter && receive == send + own;
  check(gathers || scatters, c.kind, ": send and receive overlap in part; expected the same memory",
        c.kind == CollectiveKind::all_gather || c.kind == CollectiveKind::reduce_scatter
            ? ", this rank's own part of it, or none in common"
            : ", or none in common");
}

}  // namespace

void validate(const Collective& c, int rank, int size) {
  validate_peer(c, rank, size);
  validate_tree(c, size);
  validate_counts(c, rank, size);
  if (c.kind == CollectiveKind::barrier) {
    return;
  }
  const std::size_t sent = given_count(c, rank, size);
  const bool root = c.kind == CollectiveKind::broadcast && c.peer == rank;
  const std::size_t received = root && !c.receive ? 0 : taken_count(c, size);
  validate_operand(c, "send", c.send, sent);
  validate_operand(c, "receive", c.receive, received);
  validate_overlap(c, rank, sent, received);
}

std::size_t given_count(const Collective& c, int rank, int size) {
  if (c.counts.empty()) {
    return send_count(c, rank, size);
  }
  const auto blocks = static_cast<std::size_t>(blocks_of(c, rank));
  return c.kind == CollectiveKind::all_gather
             ? c.count
             : product(std::reduce(c.counts.begin(), c.counts.end()), blocks);
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
      return product(c.count, static_cast<std::size_t>(blocks_of(c, rank)));
    case CollectiveKind::reduce_scatter:
      return product(product(c.count, ranks), static_cast<std::size_t>(blocks_of(c, rank)));
    case CollectiveKind::all_to_all:
      return product(c.count, ranks);
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
      return product(c.count, static_cast<std::size_t>(size));
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
