#include <tessera/core/autograd/pass_tree.h>

#include <array>
#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// The pass that the thread's latest backward ran in. Consecutive passes of a rank differ.
struct LatestBackward {
  const Context* context = nullptr;
  std::uint64_t step = 0;
  Pass pass;
  std::weak_ptr<const void> mark;  ///< of the loop: another one may run a pass like it
  std::size_t number = 0;
};

/// The training step's, and that of an evaluation, which may lie in one of its passes. On the heap:
/// a library that Python loads has little room for what threads keep.
LatestBackward& latest_backward() {
  thread_local const auto latest = std::make_unique<std::array<LatestBackward, 2>>();
  return (*latest)[Context::current().pass.training ? 0 : 1];
}

bool is_current(const LatestBackward& latest) {
  const Context& context = Context::current();
  return latest.context == &context && latest.step == context.step && latest.pass == context.pass &&
         latest.mark.lock() == context.pass_mark;
}

}  // namespace

std::size_t backward_in_pass() {
  return latest_backward().number;
}

void count_backward_in_pass() {
  const Context& context = Context::current();
  latest_backward() = {&context, context.step, context.pass, context.pass_mark,
                       backwards_in_pass()};
}

std::size_t backwards_in_pass() {
  const LatestBackward& latest = latest_backward();
  return is_current(latest) ? latest.number + 1 : 0;
}

void uncount_backward_in_pass() {
  LatestBackward& latest = latest_backward();
  if (latest.number > 0) {
    --latest.number;
  } else {
    latest = {};
  }
}

bool is_exclusive(const Tensor& x) {
  // Contiguous: an expanded gradient's elements share memory.
  const Storage* memory = x.defined() ? x.get().storage.get() : nullptr;  // null on the meta device
  return memory != nullptr && memory->owned() && x.impl()->use_count() == 1 &&
         memory->use_count() == 1 && x.is_contiguous();
}

void accumulate(Tensor& into, const Tensor& value) {
  into = is_exclusive(into) && !grad_enabled() ? add_(into, value) : into + value;
}

void PassTree::add(Tensor sum, std::int64_t first, std::int64_t count) {
  // It is added to, and read again in the last pass: nobody else may hold it.
  sums_.take(first, count, is_exclusive(sum) ? std::move(sum) : clone(sum), accumulate);
  added_ += count;
}

Contribution PassTree::take(std::int64_t size) {
  Contribution total{.dense = {}, .rows = append_passes(rows_)};
  rows_.clear();
  if (total.rows.defined()) {
    const std::int64_t first = total.rows.first;
    total.rows = total.rows.within(first - first % size, size);
  }
  if (!sums_.empty()) {
    sums_.finish(accumulate);
    total.dense = std::move(sums_.back());
    sums_.clear();
  }
  if (std::exchange(added_, 0) < size && total.dense.defined()) {
    // Absent ones count as +0, which turns -0 into +0 as an addition of zeros would.
    accumulate(total.dense, full(total.dense.shape(), 0,
                                 {.dtype = total.dense.dtype(), .device = total.dense.device()}));
  }
  return total;
}

}  // namespace tessera
