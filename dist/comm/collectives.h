// Collectives on typed memory. Each launches and returns at once; `.wait()` makes it blocking, and
// equal pointers make it in place. The memory must outlive the Work.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

template <class T>
Collective collective_of(CollectiveKind kind, const T* send, T* receive, std::size_t count,
                         std::string label = {}) {
  return {.kind = kind,
          .dtype = dtype_of<T>,
          .send = Operand(send),
          .receive = Operand(receive),
          .count = count,
          .label = std::move(label)};
}

/// Throws InvalidArgument that begins with `what` unless `counts` come to `size`.
inline void check_sum(const char* what, std::size_t size, const std::vector<std::size_t>& counts) {
  const std::size_t sum = std::reduce(counts.begin(), counts.end());
  check(size == sum, what, "; got ", size, ", expected ", sum, " as in the counts by rank");
}

/// Reduces `values` over all ranks, in place.
template <class T>
Work all_reduce(Communicator& comm, std::span<T> values, ReduceOp op = ReduceOp::sum,
                std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::all_reduce, values.data(), values.data(),
                                  values.size(), std::move(label));
  c.reduce = op;
  return comm.launch(std::move(c));
}

/// Gathers every rank's `mine` into `all`, in rank order; all.size() == size * mine.size().
template <class T>
Work all_gather(Communicator& comm, std::span<const std::type_identity_t<T>> mine, std::span<T> all,
                std::string label = {}) {
  check(all.size() == mine.size() * static_cast<std::size_t>(comm.size()),
        "all_gather: wrong size of the result; got ", all.size(), ", expected ", comm.size(), " * ",
        mine.size());
  return comm.launch(collective_of<T>(CollectiveKind::all_gather, mine.data(), all.data(),
                                      mine.size(), std::move(label)));
}

/// Gathers parts of uneven sizes, `counts` by rank; all.size() is their sum.
template <class T>
Work all_gather(Communicator& comm, std::span<const std::type_identity_t<T>> mine, std::span<T> all,
                std::vector<std::size_t> counts, std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::all_gather, mine.data(), all.data(), mine.size(),
                                  std::move(label));
  check_sum("all_gather: wrong size of the result", all.size(), counts);
  c.counts = std::move(counts);
  return comm.launch(std::move(c));
}

/// Reduces `all` over ranks and keeps this rank's part of it; all.size() == size * mine.size().
template <class T>
Work reduce_scatter(Communicator& comm, std::span<const std::type_identity_t<T>> all,
                    std::span<T> mine, ReduceOp op = ReduceOp::sum, std::string label = {}) {
  check(all.size() == mine.size() * static_cast<std::size_t>(comm.size()),
        "reduce_scatter: wrong size of the input; got ", all.size(), ", expected ", comm.size(),
        " * ", mine.size());
  Collective c = collective_of<T>(CollectiveKind::reduce_scatter, all.data(), mine.data(),
                                  mine.size(), std::move(label));
  c.reduce = op;
  return comm.launch(std::move(c));
}

/// Reduces `all`, of which rank r keeps the part of counts[r] elements; all.size() is their sum.
template <class T>
Work reduce_scatter(Communicator& comm, std::span<const std::type_identity_t<T>> all,
                    std::span<T> mine, std::vector<std::size_t> counts, ReduceOp op = ReduceOp::sum,
                    std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::reduce_scatter, all.data(), mine.data(),
                                  mine.size(), std::move(label));
  check_sum("reduce_scatter: wrong size of the input", all.size(), counts);
  c.reduce = op;
  c.counts = std::move(counts);
  return comm.launch(std::move(c));
}

/// Sends part r of `parts` to rank r; part r of `received` comes from rank r.
template <class T>
Work all_to_all(Communicator& comm, std::span<const std::type_identity_t<T>> parts,
                std::span<T> received, std::string label = {}) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  check(parts.size() == received.size() && parts.size() % ranks == 0,
        "all_to_all: sizes must be equal and divisible by the group's; got ", parts.size(), " and ",
        received.size(), ", expected a multiple of ", ranks);
  return comm.launch(collective_of<T>(CollectiveKind::all_to_all, parts.data(), received.data(),
                                      parts.size() / ranks, std::move(label)));
}

/// Makes `values` on every rank what they are on `root`.
template <class T>
Work broadcast(Communicator& comm, std::span<T> values, int root, std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::broadcast, values.data(), values.data(),
                                  values.size(), std::move(label));
  c.peer = root;
  return comm.launch(std::move(c));
}

template <class T>
Work send(Communicator& comm, std::span<const T> values, int to, std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::send, values.data(), static_cast<T*>(nullptr),
                                  values.size(), std::move(label));
  c.peer = to;
  return comm.launch(std::move(c));
}

template <class T>
Work receive(Communicator& comm, std::span<T> values, int from, std::string label = {}) {
  Collective c = collective_of<T>(CollectiveKind::receive, static_cast<const T*>(nullptr),
                                  values.data(), values.size(), std::move(label));
  c.peer = from;
  return comm.launch(std::move(c));
}

/// Done once every rank has launched it.
inline Work barrier(Communicator& comm, std::string label = {}) {
  Collective c;
  c.label = std::move(label);
  return comm.launch(std::move(c));
}

}  // namespace tessera::dist
