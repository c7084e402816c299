// What ends a backward: which parameters were used, rows of embeddings, gradients for the
// optimizer.
#include <algorithm>
#include <functional>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/clock.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/parallel/row_exchange.h>

namespace tessera::dist {
namespace {

/// Columns of the table that ranks exchange at the end of backward, one row a parameter.
enum Column : std::size_t { used, dense, early, rows, columns };

/// How many ranks' tables have a number in that column of parameter `index`.
int count_ranks(const std::vector<std::int64_t>& table, std::size_t parameters, std::size_t index,
                Column column) {
  int ranks = 0;
  for (std::size_t at = index * columns + column; at < table.size(); at += parameters * columns) {
    ranks += table[at] != 0 ? 1 : 0;
  }
  return ranks;
}

bool any_rank(const std::vector<std::int64_t>& table, std::size_t parameters, std::size_t index,
              Column column) {
  return count_ranks(table, parameters, index, column) > 0;
}

}  // namespace

void GradientReducer::end_backward() {
  std::vector<std::int64_t> mine(places_.size() * columns);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].trained) {
      continue;
    }
    Progress& p = progress_[i];
    const Round& round = current_round(p);
    const bool complete = p.complete;
    if (!complete) {
      settle(i);
    }
    const bool filled = std::ranges::any_of(p.filled, std::identity{});
    mine[i * columns + dense] = filled;
    mine[i * columns + used] = complete || filled || !round.rows.empty();
    mine[i * columns + early] = p.early;
    for (const SparseGradient& use : round.rows) {
      mine[i * columns + rows] += use.count();
    }
  }
  launch_ready();
  loss_counts_.append_to(mine);
  std::vector<std::int64_t> table(mine.size() * static_cast<std::size_t>(comm_->size()));
  const Work exchanged = all_gather<std::int64_t>(*comm_, mine, table, "backward: used parameters");
  for (const Work& work : works_) {
    wait(work);
  }
  wait(exchanged);
  const GradientScale scale = loss_counts_.take_from(table);
  require_equal();
  reduce_left_out(table);
  learn(table);
  add_rows_of_all(table);
  set_gradients(table, scale);
}

/// Reduces the parameters that wrongly were expected to have no dense gradient.
void GradientReducer::reduce_left_out(const std::vector<std::int64_t>& table) {
  const std::size_t before = works_.size();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (turn_of(places_[i]) == Turn::last && any_rank(table, places_.size(), i, dense)) {
      launch_alone(places_[i]);
    }
  }
  std::for_each(works_.begin() + static_cast<std::ptrdiff_t>(before), works_.end(),
                [this](const Work& work) { wait(work); });
}

/// What to expect of the next backward.
void GradientReducer::learn(const std::vector<std::int64_t>& table) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    const bool early_on_all = count_ranks(table, places_.size(), i, early) == comm_->size();
    const bool without = place.trained && !any_rank(table, places_.size(), i, dense);
    place.early = early_on_all ? place.early + 1 : 0;
    place.without_dense = without ? place.without_dense + 1 : 0;
  }
}

void GradientReducer::add_rows_of_all(const std::vector<std::int64_t>& table) {
  const std::size_t stride = places_.size() * columns;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    std::vector<std::int64_t> counts;
    for (std::size_t at = i * columns + rows; at < table.size(); at += stride) {
      counts.push_back(table[at]);
    }
    if (std::ranges::max(counts) > 0) {
      add_rows_of(i, counts);
    }
  }
}

/// Adds all ranks' rows of a parameter, of which `counts` has the numbers, to its reduced gradient.
void GradientReducer::add_rows_of(std::size_t index, const std::vector<std::int64_t>& counts) {
  const Place& place = places_[index];
  const TensorMeta meta(place.value.get());
  Counts microbatches;
  for (int r = 0; r < comm_->size(); ++r) {
    microbatches.push_back(share_of_rank(grain_, comm_->size(), r).count);
  }
  const RankRows mine = flatten_rows(append_passes(current_round(progress_[index]).rows),
                                     share_of_rank(grain_, comm_->size(), comm_->rank()));
  const Tensor gradient = gradient_at(index, 0);
  if (is_better_as_table(counts, meta.shape[0])) {
    const Tensor sums = reduce_rows(*comm_, mine, blocks_, tree_, meta, place.name);
    static_cast<void>(call_into<Add>(gradient, {gradient, sums}));
    return;
  }
  const SparseGradient all =
      gather_rows(*comm_, mine, counts, microbatches, meta.shape.back(), place.name);
  static_cast<void>(add_rows(gradient, all, meta, gradient));
}

/// The mean over the global batch, as the hooks on the parameter's gradient leave it.
void GradientReducer::finish_sum(std::size_t index, GradientScale scale) {
  Tensor gradient = gradient_at(index, 0);
  if (scale.factor != 1) {
    static_cast<void>(mul_(gradient, scale.factor));
  }
  LeafNode& leaf = leaf_of(places_[index].value);
  if (leaf.hooks == nullptr || leaf.hooks->empty()) {
    return;
  }
  const Tensor sum = clone(gradient);                    // hooks may keep it
  if (progress_[index].kept && leaf.grad().defined()) {  // which they may read
    add_previous(index, false);
    leaf.set_grad(clone(gradient), leaf.counted_nothing());
  }
  const Tensor hooked = leaf.run_hooks(sum);
  static_cast<void>(call_into<Cast>(gradient, {hooked}, {DType::f32}));
}

/// Finishes the parameters that some rank used. Where a hook throws, gradients are again what they
/// were before this backward.
void GradientReducer::finish_sums(const std::vector<std::int64_t>& table, GradientScale scale) {
  for (Progress& progress : progress_) {
    std::ranges::fill(progress.filled, 0);
    progress.rounds.erase(backward_in_pass());
  }
  try {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].trained && any_rank(table, places_.size(), i, used)) {
        finish_sum(i, scale);
      }
    }
  } catch (...) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (std::exchange(progress_[i].kept, false)) {
        add_previous(i, false);
      }
    }
    throw;
  }
}

/// A parameter that no rank used has no gradient and is left untouched.
void GradientReducer::set_gradients(const std::vector<std::int64_t>& table, GradientScale scale) {
  finish_sums(table, scale);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool kept = std::exchange(progress_[i].kept, false);
    if (!places_[i].trained) {
      if (kept) {
        add_previous(i, false);
      }
      continue;
    }
    const bool any = any_rank(table, places_.size(), i, used);
    LeafNode& leaf = leaf_of(places_[i].value);
    const bool before = leaf.grad().defined() && kept;
    Tensor gradient = any || before ? gradient_at(i, 0) : Tensor();
    const bool nothing = scale.nothing && (!before || leaf.counted_nothing());
    leaf.set_grad(std::move(gradient), nothing);
    if (before) {
      add_previous(i, any);
    }
  }
}

/// Adds what earlier backwards of the step brought to the bucket's sum, or puts it there when this
/// one did not use the parameter.
void GradientReducer::add_previous(std::size_t index, bool used) const {
  const BucketEntry& entry = places_[index].entry;
  float* sum = gradient_at(index, 0).data<float>();
  const float* earlier = previous_.data() + entry.offset;
  for (std::int64_t j = 0; j < entry.count; ++j) {
    sum[j] = used ? earlier[j] + sum[j] : earlier[j];
  }
}

void GradientReducer::wait(const Work& work) {
  const Time begin = clock().now();
  work.wait();
  time_.exposed += clock().now() - begin;
  time_.total += work.duration();
}

}  // namespace tessera::dist
