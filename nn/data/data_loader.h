// Batches of windows for training a language model.
//
//   data::DataLoader loader(tokens, {.batch = 16, .context = 256, .steps = 1000});
//   for (auto& [x, y] : loader) {
//     auto loss = model(x, y);
//     loss.backward();
//     optimizer.step();
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/grain.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/background.h>
#include <tessera/nn/data/order.h>
#include <tessera/nn/data/token_sequence.h>

namespace tessera::data {

/// What one pass trains on: ids (samples, context) as i64. y is x one token later.
struct Batch {
  Tensor x;
  Tensor y;
};

struct LoaderOptions {
  std::int64_t batch = 1;    ///< samples in a global batch, over all ranks
  std::int64_t context = 1;  ///< tokens in a sample
  std::int64_t grain = 0;    ///< microbatches in a global batch; 0: default_grain(batch)
  std::int64_t at_once = 0;  ///< the most microbatches in a pass; 0: all that the rank has
  std::int64_t vocab = 0;    ///< tokens must be below it; 0: not checked
  Order order = Order::shuffled;
  std::optional<std::uint64_t> seed = std::nullopt;  ///< of the order; without one the context's
  std::int64_t steps = 0;  ///< the loop ends after this many batches in all; 0: never
  std::optional<int> rank = std::nullopt;   ///< without one the context's
  std::optional<int> ranks = std::nullopt;  ///< without one the context's world size
  bool counts_steps = true;                 ///< false for evaluation: leaves Context::step alone
};

/// What a checkpoint keeps: where training is, and what must not change under it.
struct LoaderState {
  std::int64_t position = 0;  ///< global batches handed out
  std::int64_t batch = 0;
  std::int64_t context = 0;
  std::int64_t grain = 0;
  Order order = Order::shuffled;
  std::uint64_t seed = 0;
  std::int64_t tokens = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const LoaderState&, const LoaderState&) = default;
};

/// Hands out a rank's share of global batches, pass by pass.
///
/// Window i of the data is tokens [i context, (i + 1) context], of which neighbours share one. A
/// global batch takes the next `batch` windows of the order (order.h). It is cut into `grain`
/// microbatches, which are dealt to ranks (core/base/grain.h); a rank runs its own in one pass or,
/// with `at_once`, several. The loop's body runs once a pass. Before each, Context::pass says which
/// microbatches these are, Context::step counts the batches begun, and the tensors carry the
/// borders of their microbatches. A background thread prepares the pass after the current one.
class DataLoader {
 public:
  class Iterator;
  struct End {};

  /// Throws InvalidArgument when the data is shorter than context + 1, holds a token outside the
  /// vocabulary, or when batch, grain and ranks do not fit; the text names the nearest numbers that
  /// do.
  DataLoader(TokenSequence tokens, const LoaderOptions& options);
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;
  ~DataLoader();

  /// Goes on at the current position. One iteration at a time.
  [[nodiscard]] Iterator begin();
  [[nodiscard]] static End end() { return {}; }

  /// Global batches handed out, this one included once its last pass is.
  [[nodiscard]] std::int64_t position() const { return position_; }
  [[nodiscard]] std::int64_t grain() const { return options_.grain; }
  /// Whole windows in the data.
  [[nodiscard]] std::int64_t windows() const { return windows_; }
  [[nodiscard]] const LoaderOptions& options() const { return options_; }
  [[nodiscard]] const TokenSequence& tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<MicrobatchRange>& passes() const { return passes_; }

  /// Valid between steps.
  [[nodiscard]] LoaderState state() const;
  /// Goes on where `state` was taken, on any number of ranks. Throws InvalidArgument naming both
  /// values of what differs in options or data.
  void load_state(const LoaderState& state);

 private:
  friend class Iterator;
  /// The next pass; false after the last step.
  bool next(Batch& batch);
  void prefetch();
  void drop_pending();
  void respect_mixing();
  void fill(const Batch& batch, std::int64_t position, MicrobatchRange pass) const;
  void announce(MicrobatchRange pass) const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::int64_t samples_in(std::int64_t microbatches) const;

  TokenSequence tokens_;
  LoaderOptions options_;
  std::int64_t windows_ = 0;
  std::vector<MicrobatchRange> passes_;
  std::int64_t position_ = 0;  ///< global batches handed out whole
  std::size_t pass_ = 0;       ///< next pass of the batch after those
  mutable std::optional<std::uint64_t> hash_;
  Batch pending_;  ///< being filled; undefined when none is
  Background background_;
};

/// Walks a loader; the context's pass is what it was before when it is gone.
class DataLoader::Iterator {
 public:
  explicit Iterator(DataLoader& loader);
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  Batch& operator*() { return batch_; }
  Iterator& operator++();
  bool operator==(End) const { return ended_; }

 private:
  DataLoader& loader_;
  Pass before_;
  Batch batch_;
  bool ended_ = false;
};

}  // namespace tessera::data
