// The order in which contributions are added: one balanced binary tree over their indices.
//
// Floating-point addition is not associative, so "the same bits however the work is dealt" needs
// one order that every layout can follow. Over indices [0, 2^n) a block [k 2^i, (k + 1) 2^i) is the
// sum of its two halves, and a half without contributions is left out: so whoever holds an aligned
// block of microbatches, in one process or on one rank, sums it alone as all of them would.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tessera/core/base/inline_vector.h>

namespace tessera {

/// Sums of a tree's blocks while contributions come in from left to right: what waits for its right
/// neighbour, at most one sum a level. `Sum` is a sum, or whatever stands for one (an index, a
/// buffer); functions named `add` are called as add(into, from), neighbours in that order.
template <class Sum>
class TreeSum {
 public:
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  /// The sum that came in last.
  [[nodiscard]] Sum& back() { return waiting_.back().sum; }

  /// Takes in the sum over the aligned block [first, first + count), behind all before it, and adds
  /// what is whole: first what waits before the block, since its neighbours there may be absent.
  template <class Add>
  void take(std::int64_t first, std::int64_t count, Sum sum, Add&& add) {
    settle(first, add);
    push(first + count - 1, std::move(sum));
    settle(first + count, add);
  }
  /// Takes in the sum over an aligned block that ends with index `last`. Nothing before the block
  /// may be left to settle.
  void push(std::int64_t last, Sum sum) { waiting_.push_back({last, std::move(sum)}); }
  /// The sum that came in last reaches to index `last` by now: its sibling was added to it.
  void extend(std::int64_t last) { waiting_.back().last = last; }

  /// Whether the contribution of `index` alone is the sibling of the sum that came in last, to
  /// which it can be added as it is formed: see `extend`.
  [[nodiscard]] bool is_sibling(std::int64_t index) const {
    return !empty() && level(waiting_.back().last, index) == 1;
  }

  /// Whether the last two sums are to be added when nothing more comes before index `next`.
  [[nodiscard]] bool joins(std::int64_t next) const {
    const std::size_t n = waiting_.size();
    return n > 1 &&
           level(waiting_[n - 2].last, waiting_[n - 1].last) < level(waiting_[n - 1].last, next);
  }
  /// Adds all that can be added when nothing more comes before index `next`.
  template <class Add>
  void settle(std::int64_t next, Add&& add) {
    while (joins(next)) {
      add_last(add);
    }
  }
  /// Adds all there is: `back` is the total then. A tree without sums stays so.
  template <class Add>
  void finish(Add&& add) {
    while (size() > 1) {
      add_last(add);
    }
  }
  /// Adds the last sum to the one before it.
  template <class Add>
  void add_last(Add&& add) {
    Waiting& into = waiting_[waiting_.size() - 2];
    add(into.sum, waiting_.back().sum);
    into.last = waiting_.back().last;
    waiting_.pop_back();
  }
  void clear() { waiting_.clear(); }

 private:
  struct Waiting {
    std::int64_t last;  ///< index of its block
    Sum sum;
  };
  /// Level of the smallest block that holds both indices: it has 2^level of them.
  static int level(std::int64_t a, std::int64_t b) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(a ^ b)));
  }
  InlineVector<Waiting, 8> waiting_;
};

/// Calls add(into, from) for the additions of the tree over [0, parts), children before parents.
/// The total is that of index 0.
template <class Add>
void add_along_tree(std::int64_t parts, Add&& add) {
  TreeSum<std::int64_t> tree;
  for (std::int64_t part = 0; part < parts; ++part) {
    tree.take(part, 1, part, add);
  }
  tree.finish(add);
}

/// Adds `parts` blocks of `count` numbers, one after another in `blocks`, along the tree over their
/// indices. The sum ends in the first block.
template <class T>
void tree_sum(std::vector<T>& blocks, std::int64_t parts, std::int64_t count) {
  add_along_tree(parts, [&](std::int64_t into, std::int64_t from) {
    for (std::int64_t i = 0; i < count; ++i) {
      blocks[static_cast<std::size_t>(into * count + i)] +=
          blocks[static_cast<std::size_t>(from * count + i)];
    }
  });
}

}  // namespace tessera
