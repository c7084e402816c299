// What a DataLoader does whatever its samples are: cutting the order of data into batches, batches
// into microbatches, dealing those to ranks and passes, and keeping the place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/base/batch_source.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/grain.h>
#include <tessera/core/base/loop.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/dataset.h>

namespace tessera::data {

struct LoaderOptions {
  std::int64_t batch_size = 1;  ///< samples in a global batch, over all ranks: at most the
                                ///< data set's or 2^20, whichever are more
  bool shuffle = false;         ///< each epoch has an order of its own
  bool drop_last = false;       ///< leave out what does not fill an epoch's last batch
  /// One stream of whole batches, in which an epoch's first samples follow the last ones of the
  /// epoch before. A loop over the loader then ends with `steps`, not with the epoch.
  bool join_epochs = false;
  std::int64_t steps = 0;     ///< a loop ends after this many batches in all; 0: no bound
  int workers = 1;            ///< threads that prepare batches ahead; 0: the loop's own does it
  std::int64_t prefetch = 0;  ///< passes prepared ahead; 0: one a worker
  std::int64_t grain = 0;     ///< microbatches in a global batch; 0: the most up to 8 that fit
  std::int64_t at_once = 0;   ///< the most microbatches in a pass; 0: all that the rank has
  std::optional<std::uint64_t> seed = std::nullopt;  ///< without one the context's
  std::optional<int> rank = std::nullopt;            ///< without one the context's
  std::optional<int> ranks = std::nullopt;           ///< without one the context's world size
  bool counts_steps = true;  ///< false for evaluation: leaves Context::step alone
};

/// What a checkpoint keeps: where training is, and what must not change under it.
struct LoaderState {
  std::int64_t position = 0;  ///< global batches handed out
  std::int64_t batch_size = 0;
  std::int64_t grain = 0;
  std::uint64_t seed = 0;
  std::string order;  ///< "shuffled" or "sequential", and what happens where an epoch ends
  DatasetFacts data;

  friend bool operator==(const LoaderState&, const LoaderState&) = default;
};

/// The next pass of a loader, and what it reads.
struct PassPlan {
  std::int64_t position = 0;  ///< of its global batch
  std::size_t index = 0;      ///< among the rank's passes of the batch
  MicrobatchRange microbatches;
  std::int64_t first_sample = 0;  ///< in the global batch
  std::int64_t samples = 0;
  std::int64_t first_place = 0;  ///< of its first sample in the order over all epochs
};

/// The dims of `tensor` behind the first.
[[nodiscard]] Shape size_of_sample(const Tensor& tensor);

/// Throws InvalidArgument when batch size, grain and ranks do not fit; the text names the nearest
/// numbers that do. An epoch's short last batch is cut into `grain` microbatches too, smaller ones,
/// so the grain has to divide it: without a grain one that does is chosen, and a given one that
/// does not is refused.
class LoaderBase {
 public:
  LoaderBase(const LoaderBase&) = delete;
  LoaderBase& operator=(const LoaderBase&) = delete;

  /// Global batches handed out, this one included once its last pass is.
  [[nodiscard]] std::int64_t position() const { return next_.position; }
  /// The epoch of the next batch's first sample, from 0.
  [[nodiscard]] std::int64_t epoch() const { return first_place(next_.position) / size_; }
  /// Batches in an epoch; with joined epochs, whole ones.
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  [[nodiscard]] std::int64_t grain() const { return options_.grain; }
  [[nodiscard]] const LoaderOptions& options() const { return options_; }
  /// This rank's share of a batch, pass by pass.
  [[nodiscard]] const std::vector<MicrobatchRange>& passes() const { return passes_; }

  /// Throws RuntimeError in the middle of a training step.
  [[nodiscard]] LoaderState state() const;
  /// Goes on where `state` was taken, on any number of ranks. Throws InvalidArgument naming both
  /// values of what differs in options or data.
  void load_state(const LoaderState& state);
  /// Throws as `load_state` would, and changes nothing.
  void check_state(const LoaderState& state) const;

 protected:
  LoaderBase(std::int64_t size, const LoaderOptions& options);
  ~LoaderBase() = default;

  /// What tells the data set from others.
  [[nodiscard]] virtual DatasetFacts facts() const = 0;
  /// A hash of the sample at `place` of the order, as a batch holds it.
  [[nodiscard]] virtual std::uint64_t hash_sample(std::int64_t place) const = 0;
  /// Forgets what was prepared ahead.
  virtual void drop_pending() = 0;

  /// A loop begins: says where it will end. Throws RuntimeError where the one before was left in
  /// the middle of a step of several passes, or is under way.
  [[nodiscard]] std::shared_ptr<Loop> begin_loop();
  /// A loop ends or is left, while the context still has its pass.
  void end_loop() noexcept;
  /// Throws RuntimeError where that left a training step undone.
  void check_step_is_done() const;
  /// The body is through with its pass.
  void end_pass();
  /// Throws InvalidArgument where another loader's pass is under way: the batch in hand is none of
  /// it.
  void check_turn() const;
  /// False where the loop ends.
  [[nodiscard]] bool has_pass(std::int64_t ahead = 0) const;
  /// The pass that is `ahead` passes behind the next one.
  [[nodiscard]] PassPlan plan(std::int64_t ahead = 0) const;
  /// Tells the context which pass runs now, and turns to the one behind it. `sizes` are those of a
  /// sample in each tensor of the pass. Throws InvalidArgument where they are not those of the
  /// batch's first pass.
  void advance(std::vector<Shape> sizes);
  /// The sample that stands at a place of the order.
  [[nodiscard]] std::int64_t sample_at(std::int64_t place) const;
  /// Tells a tensor of the next pass's batch where its microbatches end.
  void set_borders(Tensor& tensor) const;
  /// One microbatch of a pass, by itself.
  [[nodiscard]] static PassPlan microbatch_of(const PassPlan& pass, std::int64_t index);
  /// Throws InvalidArgument where microbatch `index` of a pass has other values in the pass's
  /// tensors than in those that were made of its samples alone. Tensors whose samples were padded
  /// to other sizes are left out.
  static void check_alike(const PassPlan& pass, std::int64_t index,
                          const std::vector<Tensor>& of_pass, const std::vector<Tensor>& alone);
  /// The key of a sample's random numbers.
  [[nodiscard]] std::uint64_t random_key(std::int64_t place) const;
  /// Contexts in which `rand`, `randn` and ops draw while one sample is made, keyed by its place,
  /// and while samples become a batch: what is drawn for each sample (`rand_like`) is keyed by its
  /// index in the global batch then, and what is drawn for all is an error unless one rank makes
  /// the batch in one piece.
  [[nodiscard]] std::shared_ptr<Context> sample_context(std::int64_t place) const;
  [[nodiscard]] std::shared_ptr<Context> batch_context(const PassPlan& pass) const;

 private:
  /// A pass of a batch.
  struct Cursor {
    std::int64_t position = 0;
    std::size_t pass = 0;
  };
  void deal_passes();
  [[nodiscard]] bool stands_for_more(const PassPlan& pass) const;
  void respect_mixing();
  [[nodiscard]] Cursor cursor(std::int64_t ahead) const;
  [[nodiscard]] std::int64_t first_place(std::int64_t position) const;
  [[nodiscard]] std::int64_t samples_in_batch(std::int64_t position) const;
  [[nodiscard]] std::string order() const;
  [[nodiscard]] std::string hash_samples() const;
  [[nodiscard]] std::shared_ptr<const BatchSource> announced_source(std::int64_t position);
  void check_sizes(const PassPlan& now, std::vector<Shape> sizes);
  void check_beside(const Pass& pass) const;
  void check_turns_with(const Loop& other) const;
  void check_backwards();
  [[nodiscard]] bool runs_now() const;
  [[nodiscard]] bool ends_pass_under_way() const;
  [[nodiscard]] bool leaves_step() const;
  [[nodiscard]] LoaderState next_state() const;
  /// Warns where the loader walks in the order of the loader around it.
  void say_same_order() const;
  /// What tells the loader's batches from those of others, the same on all ranks and in a run that
  /// goes on: a hash of options and data.
  [[nodiscard]] std::uint64_t source_key() const;

  std::int64_t size_;
  LoaderOptions options_;
  std::vector<MicrobatchRange> passes_;
  std::shared_ptr<BatchSource> source_;   ///< null until ranks may want to compare it
  Cursor next_;                           ///< not yet handed out
  std::vector<Shape> sizes_;              ///< of a sample, in the latest batch's first pass
  std::int64_t end_ = 0;                  ///< position where the loop ends
  std::shared_ptr<Loop> loop_;            ///< the latest; null before the first
  std::size_t latest_ = 0;                ///< that pass's number in its step
  std::optional<std::size_t> backwards_;  ///< in the step's first pass, where they were counted
  bool in_body_ = false;                  ///< of the loop, with the latest pass
  bool left_ = false;                     ///< a step of several passes, in the middle
  bool mixes_ = false;                    ///< at_once is 1 since a module mixes samples
  std::int64_t begun_ = 0;                ///< position where the loop began
};

}  // namespace tessera::data
