#include <tessera/core/autograd/pass_tree.h>

#include <array>
#include <memory>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// The pass that the thread's latest backward ran in. Consecutive passes of a rank differ.
struct Round {
  const Context* context = nullptr;
  std::uint64_t step = 0;
  Pass pass;
  std::weak_ptr<const void> mark;  ///< of the loop: another one may run a pass like it
  std::size_t number = 0;
};

/// The training step's, and that of an evaluation, which may lie in one of its passes. On the heap:
/// a library that Python loads has little room for what threads keep.
Round& latest_round() {
  thread_local const auto rounds = std::make_unique<std::array<Round, 2>>();
  return (*rounds)[Context::current().pass.training ? 0 : 1];
}

bool is_current(const Round& latest) {
  const Context& context = Context::current();
  return latest.context == &context && latest.step == context.step && latest.pass == context.pass &&
         latest.mark.lock() == context.pass_mark;
}

}  // namespace

std::size_t backward_in_pass() {
  return latest_round().number;
}

void count_backward_in_pass() {
  const Context& context = Context::current();
  latest_round() = {&context, context.step, context.pass, context.pass_mark, backwards_in_pass()};
}

std::size_t backwards_in_pass() {
  const Round& round = latest_round();
  return is_current(round) ? round.number + 1 : 0;
}

void uncount_backward_in_pass() {
  Round& round = latest_round();
  if (round.number > 0) {
    --round.number;
  } else {
    round = {};
  }
}

bool is_exclusive(const Tensor& x) {
  // Contiguous: an expanded gradient's elements share memory.
  return x.defined() && x.impl()->use_count() == 1 && x.impl()->storage->use_count() == 1 &&
         x.is_contiguous();
}

void accumulate(Tensor& into, const Tensor& value) {
  into = is_exclusive(into) && !grad_enabled() ? add_(into, value) : into + value;
}

void PassTree::add(Tensor sum, std::int64_t first, std::int64_t count) {
  blocks_.push_back({first, count, std::move(sum)});
  merge_siblings();
}

void PassTree::merge_siblings() {
  while (blocks_.size() >= 2) {
    Block& right = blocks_.back();
    Block& left = blocks_[blocks_.size() - 2];
    const bool siblings = left.count == right.count && left.first % (2 * left.count) == 0 &&
                          right.first == left.first + left.count;
    if (!siblings) {
      return;
    }
    accumulate(left.sum, right.sum);
    left.count *= 2;
    blocks_.pop_back();
  }
}

/// One level up: blocks of `count` microbatches become blocks of twice that.
void PassTree::climb(std::int64_t count) {
  std::vector<Block> level = std::exchange(blocks_, {});
  for (std::size_t i = 0; i < level.size(); ++i) {
    Block& block = level[i];
    if (block.count == count) {
      const std::int64_t parent = block.first - block.first % (2 * count);
      const bool paired = i + 1 < level.size() && level[i + 1].first == parent + count &&
                          level[i + 1].count == count;
      // An absent sibling counts as +0, which turns -0 into +0 as an addition of zeros would.
      accumulate(block.sum, paired ? level[++i].sum
                                   : full(block.sum.shape(), 0, {.dtype = block.sum.dtype()}));
      block = {parent, 2 * count, std::move(block.sum)};
    }
    blocks_.push_back(std::move(block));
  }
}

Contribution PassTree::take(std::int64_t size) {
  Contribution total{.dense = {}, .rows = append_passes(rows_)};
  rows_.clear();
  if (total.rows.defined()) {
    const std::int64_t first = total.rows.first;
    total.rows = total.rows.within(first - first % size, size);
  }
  for (std::int64_t count = 1; count < size && !blocks_.empty(); count *= 2) {
    climb(count);
  }
  if (!blocks_.empty()) {
    total.dense = std::move(blocks_[0].sum);
    blocks_.clear();
  }
  return total;
}

}  // namespace tessera
