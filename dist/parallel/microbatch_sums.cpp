#include <tessera/dist/parallel/microbatch_sums.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::dist {

MicrobatchSums::MicrobatchSums(const MicrobatchBlocks& blocks, std::vector<Tensor> memory)
    : blocks_(&blocks),
      memory_(std::move(memory)),
      filled_(memory_.size()),
      lent_(memory_.size()) {}

/// Until the last pass the blocks' memory belongs to the first backward of each pass.
bool MicrobatchSums::owns_memory(std::size_t block) const {
  return blocks_->is_whole_pass(block) && (Context::current().pass.last || backward_in_pass() == 0);
}

Tensor MicrobatchSums::destination() const {
  const std::size_t block = blocks_->current();
  return owns_memory(block) ? memory(block) : Tensor();
}

Tensor MicrobatchSums::early_destination() {
  if (!blocks_->hold_pass()) {
    return {};
  }
  const std::size_t block = blocks_->current();
  const bool free = blocks_->is_whole_pass(block) && filled_[block] == 0 && lent_[block] == 0;
  lent_[block] |= free ? 1 : 0;
  return free ? memory(block) : Tensor();
}

MicrobatchSums::Accumulation& MicrobatchSums::accumulation() {
  Accumulation& found = backwards_[backward_in_pass()];
  found.dense.resize(memory_.size());
  return found;
}

void MicrobatchSums::store(std::size_t block, const Tensor& sum) {
  if (!sum.shares_storage(memory_[block])) {
    static_cast<void>(call_into<Cast>(memory_[block], {sum}, {DType::f32}));
  }
  filled_[block] = 1;
}

void MicrobatchSums::add(Tensor dense) {
  const std::size_t block = blocks_->current();
  if (owns_memory(block)) {
    return store(block, dense);
  }
  const bool lent = std::ranges::any_of(
      memory_, [&](const Tensor& memory) { return dense.shares_storage(memory); });
  const Pass& pass = Context::current().pass;
  accumulation().dense[block].add(lent ? clone(dense) : std::move(dense), pass.first, pass.count);
}

void MicrobatchSums::add(SparseGradient rows) {
  const bool waits = !Context::current().pass.last;
  accumulation().rows.push_back(waits ? kept_for_later(std::move(rows)) : std::move(rows));
}

void MicrobatchSums::settle() {
  const auto found = backwards_.find(backward_in_pass());
  for (std::size_t block = 0; block < memory_.size(); ++block) {
    if (found != backwards_.end() && !found->second.dense[block].empty()) {
      store(block, found->second.dense[block].take(blocks_->own()[block].size).dense);
    }
    if (filled_[block] == 0) {
      set_to_zero(memory_[block]);
    }
  }
  void_memory();
}

void MicrobatchSums::void_memory() {
  for (const Tensor& memory : memory_) {
    memory.get().storage->bump_version();
  }
}

bool MicrobatchSums::has_dense() const {
  return std::ranges::any_of(filled_, std::identity{});
}

bool MicrobatchSums::has_sparse() const {
  const auto found = backwards_.find(backward_in_pass());
  return found != backwards_.end() && !found->second.rows.empty();
}

std::int64_t MicrobatchSums::row_count() const {
  const auto found = backwards_.find(backward_in_pass());
  std::int64_t count = 0;
  if (found != backwards_.end()) {
    for (const SparseGradient& pass : found->second.rows) {
      count += pass.count();
    }
  }
  return count;
}

SparseGradient MicrobatchSums::sparse() const {
  const auto found = backwards_.find(backward_in_pass());
  return found == backwards_.end() ? SparseGradient{} : append_passes(found->second.rows);
}

void MicrobatchSums::end_backward() {
  std::ranges::fill(filled_, 0);
  std::ranges::fill(lent_, 0);
  backwards_.erase(backward_in_pass());
}

void MicrobatchSums::forget() {
  std::ranges::fill(filled_, 0);
  std::ranges::fill(lent_, 0);
  backwards_.clear();
}

}  // namespace tessera::dist
