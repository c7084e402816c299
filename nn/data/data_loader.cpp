#include <tessera/nn/data/data_loader.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::data {
namespace {

LoaderOptions resolve(LoaderOptions options) {
  const Context& context = Context::current();
  options.grain = options.grain == 0 ? default_grain(options.batch) : options.grain;
  options.seed = options.seed.value_or(context.seed);
  options.rank = options.rank.value_or(context.rank);
  options.ranks = options.ranks.value_or(context.world_size);
  check_grain(options.batch, options.grain, *options.ranks);
  check(options.at_once >= 0, "data loader: at_once is negative; got ", options.at_once,
        ", expected 0 for all microbatches at once, or at least 1");
  check(options.steps >= 0, "data loader: steps is negative; got ", options.steps);
  return options;
}

void check_length(std::int64_t tokens, std::int64_t context) {
  check(context >= 1, "data loader: the context is empty; got ", context, ", expected at least 1");
  check(tokens > context, "data: too short; got ", tokens, " tokens, expected at least ",
        context + 1, " for context ", context,
        tokens >= 2 ? ", or a context of at most " + std::to_string(tokens - 1) : "");
}

template <class T>
void check_same(const char* what, const T& saved, const T& now) {
  check(saved == now, "data loader: ", what, " differs from the saved one; got ", now,
        ", expected ", saved);
}

}  // namespace

DataLoader::DataLoader(TokenSequence tokens, const LoaderOptions& options)
    : tokens_(std::move(tokens)), options_(resolve(options)) {
  check_length(tokens_.size(), options_.context);
  if (options_.vocab > 0) {
    tokens_.check_vocab(options_.vocab);
  }
  windows_ = (tokens_.size() - 1) / options_.context;
  const MicrobatchRange share = share_of_rank(options_.grain, *options_.ranks, *options_.rank);
  passes_ = aligned_blocks(share, options_.at_once == 0 ? options_.grain : options_.at_once);
}

DataLoader::~DataLoader() = default;

/// Data parallel may have been applied since the loader was made.
void DataLoader::respect_mixing() {
  if (!Context::current().mixes_samples || options_.at_once == 1 || pass_ != 0) {
    return;
  }
  drop_pending();
  options_.at_once = 1;
  passes_ = aligned_blocks(share_of_rank(options_.grain, *options_.ranks, *options_.rank), 1);
}

void DataLoader::drop_pending() {
  if (pending_.x.defined()) {
    background_.wait();
    pending_ = {};
  }
}

DataLoader::Iterator DataLoader::begin() {
  respect_mixing();
  return Iterator(*this);
}

bool DataLoader::finished() const {
  return options_.steps > 0 && position_ >= options_.steps;
}

std::int64_t DataLoader::samples_in(std::int64_t microbatches) const {
  return microbatches * (options_.batch / options_.grain);
}

bool DataLoader::next(Batch& batch) {
  if (finished()) {
    return false;
  }
  if (!pending_.x.defined()) {
    prefetch();
  }
  batch = std::exchange(pending_, {});
  background_.wait();
  announce(passes_[pass_]);
  if (++pass_ == passes_.size()) {
    pass_ = 0;
    ++position_;
  }
  if (!finished()) {
    prefetch();
  }
  return true;
}

/// Begins to prepare the next pass. The tensors are made here, so that memory is taken and given
/// back on one thread.
void DataLoader::prefetch() {
  const MicrobatchRange pass = passes_[pass_];
  const Shape shape{samples_in(pass.count), options_.context};
  pending_ = {.x = empty(shape, {.dtype = DType::i64}), .y = empty(shape, {.dtype = DType::i64})};
  if (pass.count > 1) {
    const Cut cut{.parts = static_cast<std::int32_t>(pass.count), .dim = 0};
    pending_.x.get().cut = cut;
    pending_.y.get().cut = cut;
  }
  background_.start(
      [this, batch = pending_, position = position_, pass] { fill(batch, position, pass); });
}

void DataLoader::fill(const Batch& batch, std::int64_t position, MicrobatchRange pass) const {
  const std::int64_t context = options_.context;
  const std::int64_t first = position * options_.batch + samples_in(pass.first);
  const auto row = [context](const Tensor& ids, std::int64_t sample) {
    return std::span(ids.get().data<std::int64_t>() + sample * context,
                     static_cast<std::size_t>(context));
  };
  for (std::int64_t sample = 0; sample < batch.x.size(0); ++sample) {
    const std::int64_t window = window_of(options_.order, *options_.seed, windows_, first + sample);
    tokens_.copy(window * context, row(batch.x, sample));
    tokens_.copy(window * context + 1, row(batch.y, sample));
  }
}

void DataLoader::announce(MicrobatchRange pass) const {
  Context& context = Context::current();
  context.pass = {.grain = options_.grain,
                  .first = pass.first,
                  .count = pass.count,
                  .first_sample = samples_in(pass.first),
                  .samples = samples_in(pass.count),
                  .last = pass_ + 1 == passes_.size(),
                  .training = options_.counts_steps};
  begin_random_pass();
  if (options_.counts_steps) {
    context.step = static_cast<std::uint64_t>(position_) + 1;
  }
}

LoaderState DataLoader::state() const {
  if (!hash_) {
    hash_ = tokens_.hash();
  }
  return {.position = position_,
          .batch = options_.batch,
          .context = options_.context,
          .grain = options_.grain,
          .order = options_.order,
          .seed = *options_.seed,
          .tokens = tokens_.size(),
          .hash = *hash_};
}

void DataLoader::load_state(const LoaderState& saved) {
  const LoaderState now = state();
  check_same("batch", saved.batch, now.batch);
  check_same("context", saved.context, now.context);
  check_same("grain", saved.grain, now.grain);
  check_same("order", to_string(saved.order), to_string(now.order));
  check_same("seed", saved.seed, now.seed);
  check_same("length of the data", saved.tokens, now.tokens);
  check_same("hash of the data", saved.hash, now.hash);
  drop_pending();
  position_ = saved.position;
  pass_ = 0;
}

DataLoader::Iterator::Iterator(DataLoader& loader)
    : loader_(loader), before_(Context::current().pass) {
  ++*this;
}

DataLoader::Iterator::~Iterator() {
  Context::current().pass = before_;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  batch_ = {};
  ended_ = !loader_.next(batch_);
  return *this;
}

}  // namespace tessera::data
