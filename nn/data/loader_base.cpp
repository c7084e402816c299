#include <tessera/nn/data/loader_base.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/nn/data/order.h>

namespace tessera::data {
namespace {

/// A batch of joined epochs may hold a sample several times, but more samples than these only
/// where the data set has them: numbers alone of a mistyped size would fill the memory.
constexpr std::int64_t kMostRepeated = std::int64_t{1} << 20;

/// Samples in the short batch that ends an epoch; 0 when there is none.
std::int64_t short_batch(std::int64_t size, const LoaderOptions& options) {
  return options.drop_last || options.join_epochs ? 0 : size % options.batch_size;
}

void check_options(std::int64_t size, const LoaderOptions& o) {
  check(size >= 1, "data loader: the data set is empty");
  check(o.batch_size >= 1, "data loader: the batch is empty; got ", o.batch_size,
        ", expected at least 1");
  const std::int64_t most = std::max(size, kMostRepeated);
  check(o.batch_size <= most, "data loader: the batch is out of range; got ", o.batch_size,
        " samples, expected at most ", most);
  check(!o.drop_last || !o.join_epochs,
        "data loader: drop_last and join_epochs exclude each other: joined epochs leave nothing");
  check(o.at_once >= 0, "data loader: at_once is negative; got ", o.at_once,
        ", expected 0 for all microbatches at once, or at least 1");
  check(o.steps >= 0, "data loader: steps is negative; got ", o.steps);
  check(o.workers >= 0, "data loader: workers is negative; got ", o.workers);
  check(o.prefetch >= 0, "data loader: prefetch is negative; got ", o.prefetch);
}

void check_short_batch(std::int64_t size, const LoaderOptions& o) {
  check(!o.drop_last || size >= o.batch_size, "data loader: drop_last leaves no batch; got ", size,
        " samples, expected at least ", o.batch_size, ", the batch size");
  const std::int64_t rest = short_batch(size, o);
  const std::int64_t fits = std::min(o.grain, rest & -rest);
  const bool enough = fits >= *o.ranks;
  check(rest % o.grain == 0, "data loader: the grain does not divide an epoch's last batch; got ",
        rest, " samples and grain ", o.grain, ", expected ",
        enough ? "grain " + std::to_string(fits) + ", " : "", "drop_last or join_epochs",
        !enough && !o.counts_steps ? ", or .rank = 0 and .ranks = 1: every rank takes all" : "");
}

/// The most microbatches up to 8 into which every batch can be cut. Where that is too few for the
/// ranks, the short batch is to blame, and the grain one that shows it.
std::int64_t fitting_grain(std::int64_t size, const LoaderOptions& o) {
  const std::int64_t whole = default_grain(o.batch_size);
  const std::int64_t fitting = default_grain(std::gcd(o.batch_size, short_batch(size, o)));
  return fitting < *o.ranks ? whole : fitting;
}

LoaderOptions resolve(std::int64_t size, LoaderOptions options) {
  const Context& context = Context::current();
  check_options(size, options);
  options.seed = options.seed.value_or(context.seed);
  options.rank = options.rank.value_or(context.rank);
  options.ranks = options.ranks.value_or(context.world_size);
  options.grain = options.grain == 0 ? fitting_grain(size, options) : options.grain;
  check_grain(options.batch_size, options.grain, *options.ranks);
  check_short_batch(size, options);
  return options;
}

template <class T>
void check_same(const std::string& what, const T& saved, const T& now) {
  check(saved == now, "data loader: ", what, " differs from the saved one; got ", now,
        ", expected ", saved);
}

BatchSource describe_source(const LoaderBase& loader, const LoaderState& state,
                            const std::string& samples) {
  BatchSource source{.facts = {{"batch size of the loader", std::to_string(state.batch_size)},
                               {"grain of the loader", std::to_string(state.grain)},
                               {"ranks of the loader", std::to_string(*loader.options().ranks)},
                               {"seed of the loader", std::to_string(state.seed)},
                               {"order of the data", state.order}}};
  for (const auto& [name, value] : state.data) {
    source.facts.emplace_back(name + " of the data", std::to_string(value));
  }
  source.facts.emplace_back("hash of a few samples of the data", samples);
  for (const auto& [name, value] : source.facts) {
    source.fingerprint = mix(mix(source.fingerprint, hash_name(name)), hash_name(value));
  }
  return source;
}

}  // namespace

Shape size_of_sample(const Tensor& tensor) {
  Shape size = tensor.shape();
  if (!size.empty()) {
    size.erase(0);
  }
  return size;
}

LoaderBase::LoaderBase(std::int64_t size, const LoaderOptions& options)
    : size_(size), options_(resolve(size, options)) {
  deal_passes();
}

void LoaderBase::deal_passes() {
  const MicrobatchRange share = share_of_rank(options_.grain, *options_.ranks, *options_.rank);
  passes_ = aligned_blocks(share, options_.at_once == 0 ? options_.grain : options_.at_once);
}

/// Data parallel may have been applied since the loader was made.
void LoaderBase::respect_mixing() {
  if (!Context::current().mixes_samples || options_.at_once == 1 || next_.pass != 0) {
    return;
  }
  drop_pending();
  options_.at_once = 1;
  mixes_ = true;
  deal_passes();
}

std::shared_ptr<Loop> LoaderBase::begin_loop() {
  check<RuntimeError>(loop_ == nullptr || loop_->over,
                      "data loader: a loop over it is under way; got another one, expected one at "
                      "a time: end the first, or make two loaders of the data set");
  check<RuntimeError>(
      !left_, "data loader: the loop before was left in pass ", latest_, " of ", passes_.size(),
      " of a training step, and what is left of the batch would be a part of it; "
      "leave loops by `if (optimizer.step().ended)`, or go on from a state that was "
      "taken before, by load_state");
  respect_mixing();
  loop_ = tessera::begin_loop(source_key(), options_.counts_steps);
  loop_->whole = passes_.size() == 1;
  loop_->order = options_.shuffle ? mix(*options_.seed, static_cast<std::uint64_t>(size_)) : 0;
  say_same_order();
  begun_ = next_.position;
  const std::int64_t batches = batches_per_epoch();
  end_ = options_.join_epochs ? std::numeric_limits<std::int64_t>::max()
                              : (next_.position / batches + 1) * batches;
  if (options_.steps > 0) {
    end_ = std::min(end_, options_.steps);
  }
  return loop_;
}

/// Pairs of two shuffled loaders would be pairs of a sample with itself.
void LoaderBase::say_same_order() const {
  const bool same = loop_->order != 0 && options_.counts_steps && loop_->outer != nullptr &&
                    !loop_->outer->over && loop_->outer->order == loop_->order;
  if (same && Context::current().rank == 0) {
    log_once("order of loaders " + std::to_string(loop_->order), LogLevel::warning,
             "data loader: walks in the same order as the loader around it, which has as many "
             "samples and the same seed; LoaderOptions::seed gives it another");
  }
}

std::uint64_t LoaderBase::source_key() const {
  std::uint64_t key = hash_name(order());
  for (const auto number : {options_.batch_size, options_.grain}) {
    key = mix(key, static_cast<std::uint64_t>(number));
  }
  key = mix(key, *options_.seed);
  for (const auto& [name, value] : facts()) {
    key = mix(mix(key, hash_name(name)), value);
  }
  return key;
}

LoaderBase::Cursor LoaderBase::cursor(std::int64_t ahead) const {
  const auto passes = static_cast<std::int64_t>(passes_.size());
  const std::int64_t pass = static_cast<std::int64_t>(next_.pass) + ahead;
  return {next_.position + pass / passes, static_cast<std::size_t>(pass % passes)};
}

bool LoaderBase::has_pass(std::int64_t ahead) const {
  return cursor(ahead).position < end_;
}

std::int64_t LoaderBase::batches_per_epoch() const {
  const std::int64_t whole = size_ / options_.batch_size;
  return whole + (short_batch(size_, options_) > 0 ? 1 : 0);
}

std::int64_t LoaderBase::first_place(std::int64_t position) const {
  if (options_.join_epochs) {
    return position * options_.batch_size;
  }
  const std::int64_t batches = batches_per_epoch();
  return position / batches * size_ + position % batches * options_.batch_size;
}

std::int64_t LoaderBase::samples_in_batch(std::int64_t position) const {
  const bool last = !options_.join_epochs && (position + 1) % batches_per_epoch() == 0;
  const std::int64_t rest = short_batch(size_, options_);
  return last && rest > 0 ? rest : options_.batch_size;
}

PassPlan LoaderBase::plan(std::int64_t ahead) const {
  const Cursor at = cursor(ahead);
  const MicrobatchRange microbatches = passes_[at.pass];
  const std::int64_t each = samples_in_batch(at.position) / options_.grain;
  const std::int64_t first = microbatches.first * each;
  return {.position = at.position,
          .index = at.pass,
          .microbatches = microbatches,
          .first_sample = first,
          .samples = microbatches.count * each,
          .first_place = first_place(at.position) + first};
}

void LoaderBase::advance(std::vector<Shape> sizes) {
  const PassPlan now = plan();
  check_sizes(now, std::move(sizes));
  check_backwards();
  Context& context = Context::current();
  const Pass pass{.grain = options_.grain,
                  .first = now.microbatches.first,
                  .count = now.microbatches.count,
                  .first_sample = now.first_sample,
                  .samples = now.samples,
                  .last = now.index + 1 == passes_.size(),
                  .training = options_.counts_steps};
  check_beside(pass);
  if (options_.counts_steps) {
    context.step = static_cast<std::uint64_t>(now.position) + 1;
  }
  const bool draws_go_on = is_begun_by_another(*loop_, pass);
  enter_pass(loop_, pass, announced_source(now.position));
  if (!draws_go_on) {
    const auto batch = static_cast<std::uint64_t>(now.position - begun_);
    begin_random_pass(loop_->evaluation == 0 ? 0 : mix(loop_->evaluation, batch));
  }
  latest_ = now.index;
  backwards_ = latest_ == 0 ? std::nullopt : backwards_;
  next_ = cursor(1);
  in_body_ = true;
}

std::int64_t LoaderBase::sample_at(std::int64_t place) const {
  return data::sample_at(options_.shuffle, *options_.seed, size_, place);
}

/// True for the first pass of a loop that holds one microbatch only because there are so many
/// ranks, or since a module says of itself that it mixes samples: what else mixes them is refused
/// there, as it is in a pass of several.
bool LoaderBase::stands_for_more(const PassPlan& pass) const {
  const bool by_itself = options_.at_once == 0 || mixes_;
  return pass.position == begun_ && pass.index == 0 && options_.grain > 1 && by_itself &&
         pass.samples > 1;
}

void LoaderBase::set_borders(Tensor& tensor) const {
  const PassPlan pass = plan();
  if (pass.microbatches.count == 1 && !stands_for_more(pass)) {
    return;
  }
  check(tensor.ndim() > 0 && tensor.size(0) == pass.samples,
        "data loader: a tensor of the batch does not hold the samples along dim 0; got shape ",
        tensor.shape(), ", expected ", pass.samples, " samples; grain 1 takes any shape");
  tensor = tensor.detach();  // the data set may hold the tensor itself
  tensor.get().set_microbatches(
      {.count = static_cast<std::int32_t>(pass.microbatches.count), .dim = 0});
}

std::uint64_t LoaderBase::random_key(std::int64_t place) const {
  return mix(mix(*options_.seed, hash_name("data samples")), static_cast<std::uint64_t>(place));
}

std::shared_ptr<Context> LoaderBase::sample_context(std::int64_t place) const {
  const Context& rank = Context::current();
  auto context = std::make_shared<Context>();
  context->rank = rank.rank;
  context->world_size = rank.world_size;
  context->log_prefix = rank.log_prefix;
  context->seed = random_key(place);
  return context;
}

std::shared_ptr<Context> LoaderBase::batch_context(const PassPlan& pass) const {
  auto context = sample_context(0);
  context->seed = mix(mix(*options_.seed, hash_name("data batches")),
                      static_cast<std::uint64_t>(pass.position));
  context->pass = {.grain = options_.grain,
                   .first = pass.microbatches.first,
                   .first_sample = pass.first_sample,
                   .samples = pass.samples};
  return context;
}

std::string LoaderBase::order() const {
  std::string text = options_.shuffle ? "shuffled" : "sequential";
  text += options_.join_epochs ? ", epochs joined" : "";
  text += options_.drop_last ? ", last batch dropped" : "";
  return text;
}

/// The hash of a few samples that the seed chooses; all of them would take too long.
std::string LoaderBase::hash_samples() const {
  constexpr std::uint64_t kSamples = 8;
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::uint64_t chosen = mix(*options_.seed, i) % static_cast<std::uint64_t>(size_);
    hash = mix(hash, hash_sample(static_cast<std::int64_t>(chosen)));
  }
  return std::to_string(hash);
}

/// Ranks that train together compare where their batches come from.
std::shared_ptr<const BatchSource> LoaderBase::announced_source(std::int64_t position) {
  if (Context::current().world_size == 1 || !options_.counts_steps) {
    return nullptr;
  }
  if (source_ == nullptr) {
    source_ = std::make_shared<BatchSource>(describe_source(*this, next_state(), hash_samples()));
  }
  source_->position = position;
  source_->sizes.clear();
  for (const Shape& size : sizes_) {
    source_->sizes += tessera::detail::concat(source_->sizes.empty() ? "" : ", ", size);
  }
  return source_;
}

LoaderState LoaderBase::state() const {
  check<RuntimeError>(next_.pass == 0,
                      "data loader: state() in the middle of a training step; ask in "
                      "`if (optimizer.step().ended)`, or before the loop");
  return next_state();
}

LoaderState LoaderBase::next_state() const {
  return {.position = position(),
          .batch_size = options_.batch_size,
          .grain = options_.grain,
          .seed = *options_.seed,
          .order = order(),
          .data = facts()};
}

void LoaderBase::check_state(const LoaderState& saved) const {
  const LoaderState now = next_state();
  check_same("batch size", saved.batch_size, now.batch_size);
  check_same("grain", saved.grain, now.grain);
  check_same("seed", saved.seed, now.seed);
  check_same("order", saved.order, now.order);
  check_same("number of facts about the data", saved.data.size(), now.data.size());
  for (std::size_t i = 0; i < now.data.size(); ++i) {
    check_same("kind of data", saved.data[i].first, now.data[i].first);
    check_same(now.data[i].first + " of the data", saved.data[i].second, now.data[i].second);
  }
  check<RuntimeError>(next_.pass == 0 || !runs_now(),
                      "data loader: load_state inside a pass that is not the last of its step");
}

void LoaderBase::load_state(const LoaderState& saved) {
  check_state(saved);
  drop_pending();
  next_ = {.position = saved.position, .pass = 0};
  left_ = false;
}

}  // namespace tessera::data
