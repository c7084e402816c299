// Batches for training, from any data set.
//
//   data::DataLoader loader(data::TensorDataset(images, labels), {.batch_size = 32});
//   for (int epoch = 0; epoch < 10; ++epoch) {
//     for (auto& [x, y] : loader) {
//       auto loss = cross_entropy(model(x), y);
//       loss.backward();
//       optimizer.step();
//     }
//   }
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/mapped.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/nn/data/collate.h>
#include <tessera/nn/data/loader_base.h>
#include <tessera/nn/data/prepared.h>
#include <tessera/nn/data/rows.h>
#include <tessera/nn/data/sample_error.h>
#include <tessera/nn/data/workers.h>

namespace tessera::data {

namespace detail {

/// The type of a data set's samples; for anything else, of which DataLoader says what it lacks,
/// some type that brings no more errors.
template <class D>
struct SampleOf {
  using Type = Tensor;
};
template <class D>
requires requires {
  typename D::Sample;
}
struct SampleOf<D> {
  using Type = typename D::Sample;
};

template <class D, class Collate>
struct BatchOf {
  using Type = std::invoke_result_t<const Collate&, std::vector<typename SampleOf<D>::Type>>;
};
template <MakesBatches D>
struct BatchOf<D, DefaultCollate> {
  using Type = decltype(std::declval<const D&>().get_batch({}));
};

}  // namespace detail

/// Hands out a rank's share of global batches, pass by pass.
///
/// A global batch takes the next `batch_size` samples of the order (order.h). It is cut into
/// `grain` microbatches, which are dealt to ranks (core/base/grain.h); a rank runs its own in one
/// pass or, with `at_once`, several. The loop's body runs once a pass. Before each, Context::pass
/// says which microbatches these are, Context::step counts the batches begun, and the tensors carry
/// the borders of their microbatches along dim 0.
///
/// One loop is what is left of an epoch, or, with joined epochs, all steps that are left. Workers
/// prepare the next passes meanwhile; which batches come, and what random transforms make of them,
/// depends on the seed and not on workers or ranks. An exception of the data set comes out of the
/// loop at the pass it belongs to, naming the sample, and the next loop begins with that pass
/// again.
///
/// Without options write braces, `DataLoader loader{TensorDataset(x)}`: with parentheses C++ reads
/// the declaration of a function whose parameter is called x.
///
/// `collate` makes a batch of a std::vector of samples; see DefaultCollate. A tensor of a batch has
/// the samples along dim 0, each as it would be without those of other microbatches: the first pass
/// is compared with its microbatches, and one that mixes or sorts samples throws InvalidArgument
/// (with at_once = 1 it sees one microbatch and may).
template <class D, class Collate = DefaultCollate>
class DataLoader final : public LoaderBase {
 public:
  using Sample = typename detail::SampleOf<D>::Type;
  using Batch = typename detail::BatchOf<D, Collate>::Type;
  class Iterator;
  struct End {};

  /// Throws InvalidArgument for an empty data set, and as LoaderBase does.
  explicit DataLoader(D dataset, const LoaderOptions& options = {}, Collate collate = {})
      : DataLoader(std::make_shared<const D>(std::move(dataset)), options, std::move(collate)) {}
  /// Takes a data set of which only the interface is known.
  explicit DataLoader(std::shared_ptr<const D> dataset, const LoaderOptions& options = {},
                      Collate collate = {})
      : LoaderBase(dataset->size(), options),
        dataset_(std::move(dataset)),
        collate_(std::move(collate)),
        workers_(options.workers) {}
  template <std::integral N, class... Rest>
  DataLoader(D, N, Rest...) = delete;  // by name: {.batch_size = 2}

  /// Goes on at the current position. One iteration at a time.
  [[nodiscard]] Iterator begin() { return Iterator(*this); }
  [[nodiscard]] static End end() { return {}; }

  [[nodiscard]] const D& dataset() const { return *dataset_; }

 private:
  /// The next pass; false where the loop ends.
  bool next(Batch& batch) {
    end_pass();
    if (!has_pass()) {
      return false;
    }
    prepare_ahead();
    batch = take();
    std::vector<Shape> sizes;
    try {
      each_tensor(batch, [&](Tensor& tensor) {
        set_borders(tensor);
        sizes.push_back(size_of_sample(tensor));
      });
      advance(std::move(sizes));
    } catch (...) {
      drop_pending();  // the first of them is taken: what is prepared no longer begins with the
                       // next
      throw;
    }
    try {
      prepare_ahead();
    } catch (const std::exception&) {  // this batch is made: the next one tries again
    }
    return true;
  }

  void prepare_ahead() {
    const LoaderOptions& o = options();
    if (o.workers == 0) {
      return;
    }
    const std::int64_t wanted = o.prefetch > 0 ? o.prefetch : o.workers;
    for (auto n = std::ssize(pending_); n < wanted && has_pass(n); ++n) {
      const auto batch = std::make_shared<Prepared<Batch>>();
      workers_.start([this, batch, pass = plan(n)] { batch->make([&] { return make(pass); }); });
      pending_.push_back(batch);  // last: a thread may not have started
    }
  }

  [[nodiscard]] Batch take() {
    const BusyScope busy("reads data");
    if (pending_.empty()) {
      return make(plan());
    }
    const auto first = std::move(pending_.front());
    pending_.pop_front();
    try {
      return first->take();
    } catch (...) {
      drop_pending();
      throw;
    }
  }

  [[nodiscard]] Batch make(const PassPlan& pass) const {
    const CategoryScope category(MemoryCategory::data);
    Batch batch = collected(pass);
    if (kMayMix && pass.microbatches.count > 1 && !compared_) {
      compare_microbatches(pass, batch);
      compared_ = true;
    }
    return batch;
  }

  /// Throws InvalidArgument where a microbatch by itself would be another one.
  void compare_microbatches(const PassPlan& pass, Batch batch) const {
    const auto tensors_of = [](Batch of) {
      std::vector<Tensor> tensors;
      each_tensor(of, [&](const Tensor& tensor) { tensors.push_back(tensor); });
      return tensors;
    };
    for (std::int64_t i = 0; i < pass.microbatches.count; ++i) {
      check_alike(pass, i, tensors_of(batch), tensors_of(collected(microbatch_of(pass, i))));
    }
  }

  /// What the data set or `collate` draws depends on the samples, whoever makes the batch.
  [[nodiscard]] Batch collected(const PassPlan& pass) const {
    const ContextScope drawing(batch_context(pass));
    const StepDraws of_samples(false);
    if constexpr (MakesBatches<D> && std::same_as<Collate, DefaultCollate>) {
      std::vector<std::int64_t> indices;
      for (std::int64_t i = 0; i < pass.samples; ++i) {
        indices.push_back(sample_at(pass.first_place + i));
      }
      return dataset_->get_batch(indices);
    } else {
      std::vector<Sample> samples;
      for (std::int64_t i = 0; i < pass.samples; ++i) {
        samples.push_back(sample(pass.first_place + i));
      }
      try {
        return collate_(std::move(samples));
      } catch (const SamplesDiffer& error) {
        throw error.of_data_set(sample_at(pass.first_place + error.place()),
                                sample_at(pass.first_place));
      }
    }
  }

  [[nodiscard]] Sample sample(std::int64_t place) const {
    const std::int64_t index = sample_at(place);
    Random random(random_key(place));
    const ContextScope drawing(sample_context(place));
    const StepDraws of_sample(false);
    try {
      return dataset_->draw(index, random);
    } catch (...) {
      rethrow_with_sample(index);
    }
  }

  [[nodiscard]] DatasetFacts facts() const override { return dataset_->facts(); }
  /// A sample that cannot be read is none's: the pass that needs it will say so.
  [[nodiscard]] std::uint64_t hash_sample(std::int64_t place) const override {
    try {
      PassPlan pass;
      pass.samples = 1;
      pass.first_place = place;
      Batch batch = collected(pass);
      std::uint64_t hash = 0;
      each_tensor(batch, [&](const Tensor& tensor) { hash = mix(hash, hash_tensor(tensor)); });
      return hash;
    } catch (...) {
      return 0;
    }
  }
  void drop_pending() override {
    workers_.clear();
    pending_.clear();
  }

  /// What the library makes a batch of has each sample by itself.
  static constexpr bool kMayMix = MakesBatches<D> || !std::same_as<Collate, DefaultCollate>;

  std::shared_ptr<const D> dataset_;
  Collate collate_;
  mutable std::atomic<bool> compared_ = false;  ///< a pass with what its microbatches alone give
  std::deque<std::shared_ptr<Prepared<Batch>>> pending_;  ///< the next passes, in order
  Workers workers_;                                       ///< last: its tasks use the rest

  static_assert(
      requires { typename D::Sample; },
      "no data set: write `struct D : data::Dataset<Sample>` with size and get");
};

/// Walks a loader. When it ends, at the loop's end or when it is gone, the context has the pass of
/// the loop around it again, with its step, or none. So it has the counts of draws, unless the loop
/// trained.
template <class D, class Collate>
class DataLoader<D, Collate>::Iterator {
 public:
  explicit Iterator(DataLoader& loader) : Iterator(loader, loader.begin_loop()) { ++*this; }
  /// Throws as check_step_is_done: nobody else would notice that the step is missing. Holders whose
  /// destructors may not throw, unique_ptr for one, end the program with its text.
  ~Iterator() noexcept(false) { end(); }
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  Batch& operator*() {
    loader_.check_turn();
    return batch_;
  }
  Iterator& operator++() {
    batch_ = {};
    if (!loader_.next(batch_)) {
      end();
    }
    return *this;
  }
  bool operator==(End) const { return loop_ == nullptr; }

 private:
  Iterator(DataLoader& loader, std::shared_ptr<Loop> loop)
      : loader_(loader), loop_(std::move(loop)) {}

  void end() {
    if (const auto loop = std::exchange(loop_, nullptr); loop != nullptr) {
      loader_.end_loop();
      leave_loop(*loop);
      loader_.check_step_is_done();
    }
  }

  DataLoader& loader_;
  std::shared_ptr<Loop> loop_;  ///< null when it has ended
  Batch batch_;
};

}  // namespace tessera::data
