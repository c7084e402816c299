#include <tessera/dist/parallel/gradient_reducer.h>

#include <algorithm>
#include <ranges>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

std::shared_ptr<Communicator> ranks_of_host(Communicator& comm) {
  int first = 0;
  while (comm.host(first) != comm.host(comm.rank())) {
    ++first;
  }
  return comm.split(first, comm.rank(), comm.name() + "/host");
}

/// Communicators whose collectives run side by side: two where several hosts are concerned.
std::vector<std::shared_ptr<Communicator>> make_lanes(const std::shared_ptr<Communicator>& comm,
                                                      const Communicator& host) {
  if (host.size() == comm->size()) {
    return {comm};
  }
  return {comm, comm->split(0, comm->rank(), comm->name() + "/second")};
}

}  // namespace

GradientReducer::GradientReducer(const std::vector<nn::Parameter>& parameters,
                                 std::shared_ptr<Communicator> comm,
                                 const DataParallelOptions& options)
    : comm_(std::move(comm)),
      host_(ranks_of_host(*comm_)),
      lanes_(make_lanes(comm_, *host_)),
      grain_(options.grain),
      tree_(
          std::make_shared<ReductionTree>(ReductionTree::over_grain(options.grain, comm_->size()))),
      blocks_(tree_->of_rank(comm_->rank())),
      buckets_(make_buckets(parameters, options.buckets)),
      borders_(deal_out(buckets_, host_->size())),
      parameters_(allocate_counted(*comm_, flat_bytes(buckets_), MemoryCategory::parameter)),
      gradients_(allocate_counted(
          *comm_, flat_bytes(buckets_) * static_cast<std::size_t>(tree_->max_blocks()),
          MemoryCategory::gradient)) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (const BucketEntry& entry : buckets_[b].entries) {
      places_.push_back({entry, b});
    }
  }
  states_given_.resize(places_.size());
  progress_.resize(places_.size());
  for (Progress& p : progress_) {
    p.filled.resize(blocks_.size());
  }
  pending_.resize(buckets_.size());
  move_parameters(buckets_, parameters_);
}

Tensor GradientReducer::gradient_at(std::size_t index, std::size_t block) const {
  const Place& place = places_[index];
  const Bucket& bucket = buckets_[place.bucket];
  const auto most = static_cast<std::int64_t>(tree_->max_blocks());
  const std::int64_t at = bucket.offset * most + static_cast<std::int64_t>(block) * bucket.count +
                          place.entry.offset - bucket.offset;
  return tensor_at(gradients_, at, place.entry.slot->shape);
}

/// The rank's block that holds the pass; the number of blocks if none does.
std::size_t GradientReducer::find_block(const Pass& pass) const {
  const auto found = std::ranges::find_if(blocks_, [&](const TreeLeaf& block) {
    return pass.grain == grain_ && pass.first >= block.first &&
           pass.first + pass.count <= block.first + block.size;
  });
  return static_cast<std::size_t>(found - blocks_.begin());
}

std::size_t GradientReducer::current_block() const {
  const Pass& pass = Context::current().pass;
  const std::size_t block = find_block(pass);
  check(block != blocks_.size(),
        "data_parallel: the pass does not fit the rank's microbatches; got ", pass.first, " to ",
        pass.first + pass.count, " of ", pass.grain, ", expected a part of ", blocks_[0].first,
        " to ", blocks_.back().first + blocks_.back().size, " of ", grain_);
  return block;
}

/// A pass that is the whole block writes it to the bucket. Until the last pass the bucket belongs
/// to the first backward of each pass.
bool GradientReducer::fills_bucket(std::size_t block) const {
  const Pass& pass = Context::current().pass;
  return pass.count == blocks_[block].size && (pass.last || backward_in_pass() == 0);
}

GradientReducer::Round& GradientReducer::current_round(Progress& progress) const {
  Round& round = progress.rounds[backward_in_pass()];
  round.trees.resize(blocks_.size());
  return round;
}

Tensor GradientReducer::destination(std::size_t index) {
  begin_backward();
  const std::size_t block = current_block();
  const bool free = fills_bucket(block) && !progress_[index].lent.held(block);
  return free ? gradient_at(index, block) : Tensor();
}

/// Only while the bucket holds nothing and no collective can be using it.
Tensor GradientReducer::early_destination(std::size_t index) {
  const Pass& pass = Context::current().pass;
  const std::size_t block = find_block(pass);
  Progress& p = progress_[index];
  const bool whole = block != blocks_.size() && pass.count == blocks_[block].size;
  const bool in_use = !whole || p.filled[block] != 0 || current_backward() != 0 ||
                      places_[index].entry.slot->value.grad().defined();
  return in_use ? Tensor() : p.lent.lend(gradient_at(index, block), block);
}

void GradientReducer::begin_backward() {
  if (backward_ == current_backward()) {
    return;
  }
  backward_ = current_backward();
  keep_previous();
  if (Context::current().pass.last) {
    begin_last_pass();
  }
}

/// A second backward before the optimizer's step overwrites the buckets: what they hold is set
/// aside and added to its sum.
void GradientReducer::keep_previous() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Tensor grad = places_[i].entry.slot->value.grad();
    if (!grad.defined() || progress_[i].kept) {
      continue;
    }
    progress_[i].kept = true;
    previous_.resize(flat_bytes(buckets_) / sizeof(float));
    std::copy_n(grad.data<float>(), grad.numel(), previous_.data() + places_[i].entry.offset);
  }
}

void GradientReducer::begin_last_pass() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    pending_[b] = buckets_[b].entries.size();
  }
  for (Progress& p : progress_) {
    p.complete = false;
  }
  next_bucket_ = 0;
  works_.clear();
  at_end_of_backward([this] { end_backward(); });
}

void GradientReducer::store(std::size_t index, std::size_t block, const Tensor& sum) {
  Progress& p = progress_[index];
  const Tensor place = gradient_at(index, block);
  if (sum.raw_data() != place.raw_data()) {
    p.lent.evict(block);
    static_cast<void>(call_into<Cast>(place, {sum}, {DType::f32}));
  }
  p.filled[block] = 1;
}

void GradientReducer::complete(std::size_t index, Contribution contribution) {
  begin_backward();
  const Pass& pass = Context::current().pass;
  const std::size_t block = current_block();
  Progress& p = progress_[index];
  Round& round = current_round(p);
  if (contribution.rows.defined()) {
    round.rows.push_back(std::move(contribution.rows));
  }
  if (contribution.dense.defined() && fills_bucket(block)) {
    store(index, block, contribution.dense);
    contribution.dense = Tensor();
  } else if (contribution.dense.defined()) {
    round.trees[block].add(std::move(contribution.dense), pass.first, pass.count);
  }
  if (pass.last) {
    settle(index);
    launch_ready();
  }
}

/// Brings every block of a parameter into its bucket; absent ones count as +0.
void GradientReducer::settle(std::size_t index) {
  Progress& p = progress_[index];
  Round& round = current_round(p);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    p.lent.evict(block);  // a kept graph may still hold what is summed over ranks now
    if (!round.trees[block].empty()) {
      store(index, block, round.trees[block].take(blocks_[block].size).dense);
    }
    if (p.filled[block] == 0) {
      const Tensor place = gradient_at(index, block);
      std::fill_n(place.data<float>(), place.numel(), 0.0F);
    }
  }
  p.complete = true;
  --pending_[places_[index].bucket];
}

void GradientReducer::launch_ready() {
  while (next_bucket_ < buckets_.size() && pending_[next_bucket_] == 0) {
    launch(next_bucket_++);
  }
}

/// Only where a rank holds one block: the parts of several do not lie side by side.
bool GradientReducer::leaves_out(const Place& place) const {
  constexpr int kFew = 3;  // losses that take turns use a parameter now and then
  return place.without_dense >= kFew && tree_->max_blocks() == 1;
}

std::vector<GradientReducer::FlatRange> GradientReducer::ranges_to_reduce(
    std::size_t bucket) const {
  std::vector<FlatRange> ranges;
  std::int64_t end = buckets_[bucket].offset + buckets_[bucket].count;
  for (const Place& place :
       std::views::reverse(std::ranges::equal_range(places_, bucket, {}, &Place::bucket))) {
    const std::int64_t begin = place.entry.offset;
    if (!ranges.empty() && ranges.back().first == end && !leaves_out(place)) {
      ranges.back().first = begin;
    } else if (!leaves_out(place)) {
      ranges.push_back({begin, end});
    }
    end = begin;
  }
  return ranges;
}

void GradientReducer::launch(std::size_t bucket) {
  for (const FlatRange& range : ranges_to_reduce(bucket)) {
    launch(range, bucket);
  }
}

void GradientReducer::launch(FlatRange range, std::size_t bucket) {
  auto* data = reinterpret_cast<float*>(gradients_.data) +
               range.first * static_cast<std::int64_t>(tree_->max_blocks());
  Collective c = collective_of<float>(CollectiveKind::all_reduce, data, data,
                                      static_cast<std::size_t>(range.last - range.first),
                                      buckets_[bucket].label);
  c.tree = tree_;
  c.keep_alive = gradients_.owner;
  works_.push_back(lanes_[works_.size() % lanes_.size()]->launch(std::move(c)));
}

}  // namespace tessera::dist
