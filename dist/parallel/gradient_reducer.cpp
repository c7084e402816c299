#include <tessera/dist/parallel/gradient_reducer.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/open_rounds.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>

namespace tessera::dist {
namespace {

std::shared_ptr<Communicator> ranks_of_host(Communicator& comm) {
  int first = 0;
  while (comm.host(first) != comm.host(comm.rank())) {
    ++first;
  }
  return comm.split(first, comm.rank(), comm.name() + "/host");
}

std::uint64_t next_number() {
  thread_local std::uint64_t last = 0;
  return ++last;
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

GradientReducer::GradientReducer(nn::Module& model, std::shared_ptr<Communicator> comm,
                                 const DataParallelOptions& options)
    : number_(next_number()),
      comm_(std::move(comm)),
      host_(ranks_of_host(*comm_)),
      lanes_(make_lanes(comm_, *host_)),
      watch_(model),
      listener_(at_begin_of_backward([this] { notice_new_parameters(); })),
      bucket_options_(options.buckets),
      grain_(options.grain),
      tree_(
          std::make_shared<ReductionTree>(ReductionTree::over_grain(options.grain, comm_->size()))),
      blocks_(tree_->of_rank(comm_->rank())),
      loss_counts_(*comm_, options.grain) {}

GradientReducer::~GradientReducer() {
  for (const Place& place : places_) {
    let_go(place);
  }
  for (const Tensor& value : newcomers_) {
    retire_sink(value);
  }
}

Tensor GradientReducer::gradient_at(std::size_t index, std::size_t block) const {
  const Place& place = places_[index];
  const Bucket& bucket = buckets_[place.bucket];
  const auto most = static_cast<std::int64_t>(tree_->max_blocks());
  const std::int64_t at = bucket.offset * most + static_cast<std::int64_t>(block) * bucket.count +
                          place.entry.offset - bucket.offset;
  return tensor_at(gradients_, at, place.value.shape());
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
  check(
      pass.samples > 0 || pass.grain == grain_,
      "data_parallel: backward outside of a loop over a data::DataLoader, which says what of a "
      "global batch of ",
      grain_,
      " microbatches a rank has; make a loader of the batch, of a data::TensorDataset say, with as "
      "many steps as it is for");
  check(pass.grain == grain_,
        "data_parallel: the loop's microbatches are not data_parallel's; got ", pass.grain,
        " in the loader's global batch, expected ", grain_, " as in DataParallelOptions::grain");
  const std::size_t block = find_block(pass);
  check(block != blocks_.size(),
        "data_parallel: the pass does not fit the rank's microbatches; got ", pass.first, " to ",
        pass.first + pass.count, " of ", pass.grain, ", expected a part of ", blocks_[0].first,
        " to ", blocks_.back().first + blocks_.back().size, " of ", grain_,
        "; the loader was told another rank or number of ranks");
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
                      places_[index].value.grad().defined();
  return in_use ? Tensor() : p.lent.lend(gradient_at(index, block), block);
}

void GradientReducer::begin_backward() {
  if (backward_ == current_backward()) {
    return;
  }
  backward_ = current_backward();
  const bool failed = !std::exchange(completed_, false);
  at_end_of_backward([this] { completed_ = true; });
  if (passes_.enter() == PassSequence::Entered::first || failed) {
    forget_step();
  }
  check_no_pass_is_lost();
  agree();
  keep_previous();
  if (Context::current().pass.last) {
    begin_last_pass();
  }
}

/// What is left is of a step whose loop was left, or of a backward that threw.
void GradientReducer::forget_step() {
  for (Progress& progress : progress_) {
    progress.rounds.clear();
    std::ranges::fill(progress.filled, 0);
  }
  loss_counts_.forget_step();
  trained_.clear();
}

/// A second backward before the optimizer's step overwrites the buckets: what they hold is set
/// aside and added to its sum.
void GradientReducer::keep_previous() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Tensor grad = places_[i].value.grad();
    const bool overwritten = places_[i].trained || turn_of(places_[i]) != Turn::never;
    if (!grad.defined() || progress_[i].kept || !overwritten) {
      continue;
    }
    progress_[i].kept = true;
    previous_.resize(flat_bytes(buckets_) / sizeof(float));
    std::copy_n(grad.data<float>(), grad.numel(), previous_.data() + places_[i].entry.offset);
  }
}

void GradientReducer::begin_last_pass() {
  count_pending();
  at_end_of_backward([this] { end_backward(); });
}

void GradientReducer::count_pending() {
  pending_.assign(buckets_.size() + 1, 0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    pending_[stage_of(places_[i])] += places_[i].trained ? 1 : 0;
    progress_[i].complete = progress_[i].early = false;
  }
  next_stage_ = 0;
  works_.clear();
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

void GradientReducer::add_dense(std::size_t index, Tensor dense) {
  const Pass& pass = Context::current().pass;
  const std::size_t block = current_block();
  if (fills_bucket(block)) {
    store(index, block, dense);
  } else {
    current_round(progress_[index]).trees[block].add(std::move(dense), pass.first, pass.count);
  }
}

/// Only in the last pass, where it can be launched.
bool GradientReducer::take_dense(std::size_t index, Tensor& dense) {
  if (!Context::current().pass.last) {
    return false;
  }
  add_dense(index, std::exchange(dense, Tensor()));
  settle(index);
  progress_[index].early = next_stage_ <= 1;
  launch_ready();
  return true;
}

void GradientReducer::complete(std::size_t index, Contribution contribution) {
  Progress& p = progress_[index];
  if (contribution.rows.defined()) {
    current_round(p).rows.push_back(std::move(contribution.rows));
  }
  if (contribution.dense.defined()) {
    add_dense(index, std::move(contribution.dense));
  }
  if (Context::current().pass.last && !p.complete) {
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
  --pending_[stage_of(places_[index])];
}

}  // namespace tessera::dist
