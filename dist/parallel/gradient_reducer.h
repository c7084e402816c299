// Reduces gradients in buckets while backward runs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/hook_list.h>
#include <tessera/core/base/pass_sequence.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/fingerprint_exchange.h>
#include <tessera/dist/parallel/lent_gradient.h>
#include <tessera/dist/parallel/loss_count_table.h>
#include <tessera/dist/parallel/optimizer_memory.h>
#include <tessera/dist/parallel/parameter_memory.h>
#include <tessera/dist/parallel/watched_model.h>
#include <tessera/dist/reduce/tree.h>
#include <tessera/nn/synchronizer.h>

namespace tessera::dist {

/// Where a step's time went in communication.
struct CommunicationTime {
  std::chrono::nanoseconds total{};    ///< sum of the collectives' own durations
  std::chrono::nanoseconds exposed{};  ///< what the rank waited for them
};

/// The synchronizer of data parallel training, see data_parallel.h.
///
/// Note [Issue order]. Every rank launches the same collectives in the same order: parameters that
/// go first, then buckets strictly by index, however gradients arrive, then the table of used
/// parameters, then rows. This order is what prevents deadlock. Between hosts two buckets are under
/// way at a time, in groups of their own, so that links are busy while one of them waits for the
/// last piece.
///
/// Note [What a bucket leaves out]. Parameters to which the last few backwards brought nothing but
/// rows, or nothing at all, on every rank are left out of their bucket's collective: it would sum
/// zeros. When that guess turns out wrong, they are reduced at the end of backward. A head that is
/// tied to the embedding has its dense gradient when backward begins, though rows come at the end:
/// where the last few backwards were so on every rank of several hosts, it goes first, on its own.
/// When that guess turns out wrong, the first bucket waits for it. All ranks guess alike, from the
/// table of used parameters.
///
/// Note [What may change]. When a backward begins, a rank looks at its model. With the first
/// gradient of a step's last pass every rank launches an exchange of fingerprints: of what changed
/// in the model, which is nothing in nearly every step, and of where the batch came from. A rank
/// whose model did not change waits for it when backward ends; one that unfroze, froze or replaced
/// something waits at once, and where a parameter is new it asks in the first pass already. Where
/// all did the same, the reducer follows the model; otherwise the rank launches what the others
/// wait for, and at the end of backward all throw, before any update.
class GradientReducer final : public nn::Synchronizer,
                              public std::enable_shared_from_this<GradientReducer> {
 public:
  /// `follow_model` is to be called next.
  GradientReducer(nn::Module& model, std::shared_ptr<Communicator> comm,
                  const DataParallelOptions& options);
  ~GradientReducer() override;
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Takes the model as it is now, on which the ranks agree: lays its parameters out anew where
  /// some are new, and keeps to those that are trained. Collective.
  void follow_model(const nn::Module& model);

  void finish_gradients() override {}
  [[nodiscard]] nn::ElementRange own_range(const nn::Slot& slot) const override;
  void keep_whole(const nn::Slot& slot) override;
  [[nodiscard]] Tensor make_state(const nn::Slot& slot, const Shape& shape) override;
  void share(std::span<double> values) override;
  void begin_comparison(std::uint64_t fingerprint) override;
  void end_comparison(const std::function<Facts()>& facts) override;
  void gather_states() override;
  void publish(const Tensor& updated) override;
  void finish_parameters() override;

  [[nodiscard]] std::vector<nn::SlotPtr> buffers() const override;
  void share_bytes(std::span<std::uint8_t> bytes) override;

  /// Whether all that it keeps is among `parameters`.
  [[nodiscard]] bool lies_within(const std::vector<nn::Parameter>& parameters) const;

  /// Among the reducers that this thread made.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// The communication since the last call.
  [[nodiscard]] CommunicationTime take_time() { return std::exchange(time_, {}); }

  // For the sinks of the parameters' leaves. The first is called before each of the next four.
  void begin_backward();
  [[nodiscard]] Tensor destination(std::size_t index);
  [[nodiscard]] Tensor early_destination(std::size_t index);
  [[nodiscard]] bool take_dense(std::size_t index, Tensor& dense);
  void complete(std::size_t index, Contribution contribution);
  [[nodiscard]] double take_counts(const PassCounts& counts);
  [[nodiscard]] LossCountTable& loss_counts() { return loss_counts_; }

 private:
  /// What the k-th backward of the step's passes brought for one parameter, outside its bucket.
  struct Round {
    std::vector<PassTree> trees;  ///< one a block, for passes smaller than it
    std::vector<SparseGradient> rows;
  };
  /// What one step has brought for one parameter on this rank.
  struct Progress {
    std::map<std::size_t, Round> rounds;  ///< by number of the backward in its pass
    std::vector<char> filled;             ///< one a block: the bucket holds the block's sum
    bool complete = false;                ///< in this backward of the last pass
    bool early = false;                   ///< and before the first bucket was launched
    bool kept = false;                    ///< `previous_` holds the gradient of earlier backwards
    LentGradient lent;
  };
  struct Place {
    BucketEntry entry;
    std::size_t bucket = 0;
    std::string name;
    Tensor value;           ///< the slot's, while the ranks agree on it
    bool trained = true;    ///< else frozen, or out of the model: it takes no part
    bool agreed = true;     ///< `trained`, as the ranks agreed on it
    int without_dense = 0;  ///< backwards since the last that brought a dense gradient
    int early = 0;          ///< backwards since the last that did not bring it early
  };
  /// When a parameter's dense gradient is reduced.
  enum class Turn { first, with_bucket, last, never };
  /// Elements of the flat space.
  struct FlatRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };

  [[nodiscard]] Tensor gradient_at(std::size_t index, std::size_t block) const;
  [[nodiscard]] std::size_t find_block(const Pass& pass) const;
  [[nodiscard]] std::size_t current_block() const;
  [[nodiscard]] bool fills_bucket(std::size_t block) const;
  [[nodiscard]] Round& current_round(Progress& progress) const;
  void forget_step();
  void agree();
  [[nodiscard]] bool has_newcomers() const;
  void follow_trained();
  void set_trained(std::size_t index, bool trained);
  void check_trained_alike();
  [[nodiscard]] std::uint64_t step_fingerprint() const;
  [[nodiscard]] Facts step_facts() const;
  void check_between_steps() const;
  [[noreturn]] void abandon();
  void require_equal();
  void notice_new_parameters();
  [[nodiscard]] bool keeps(const nn::Slot& slot) const { return slot.synchronizer.get() == this; }
  [[nodiscard]] std::vector<nn::Parameter> parameters_to_keep(const nn::Module& model) const;
  [[nodiscard]] bool lies_here(const nn::Slot& slot) const;
  void lay_out(const std::vector<nn::Parameter>& parameters);
  void carry_whole(const std::vector<Bucket>& before);
  void make_places();
  [[nodiscard]] std::optional<FlatPlace> place_of_state(const nn::Slot& slot) const;
  void keep(std::size_t index, const std::vector<nn::Parameter>& parameters);
  void let_go(const Place& place);
  void retire_sink(const Tensor& value);
  void set_buffers(const nn::Module& model);
  [[nodiscard]] FlatSpace space() const;
  void begin_last_pass();
  void count_pending();
  void keep_previous();
  void store(std::size_t index, std::size_t block, const Tensor& sum);
  void add_dense(std::size_t index, Tensor dense);
  void settle(std::size_t index);
  [[nodiscard]] bool spans_hosts() const { return host_->size() < comm_->size(); }
  [[nodiscard]] Turn turn_of(const Place& place) const;
  [[nodiscard]] std::size_t stage_of(const Place& place) const;
  void launch_ready();
  void launch_first();
  void launch_bucket(std::size_t bucket);
  void launch_alone(const Place& place);
  [[nodiscard]] std::vector<FlatRange> ranges_to_reduce(std::size_t bucket) const;
  void launch(FlatRange range, const std::string& label);
  void end_backward();
  void reduce_left_out(const std::vector<std::int64_t>& table);
  void learn(const std::vector<std::int64_t>& table);
  void add_previous(std::size_t index, bool used) const;
  void add_rows_of_all(const std::vector<std::int64_t>& table);
  void add_rows_of(std::size_t index, const std::vector<std::int64_t>& counts);
  void finish_sum(std::size_t index, GradientScale scale);
  void finish_sums(const std::vector<std::int64_t>& table, GradientScale scale);
  void set_gradients(const std::vector<std::int64_t>& table, GradientScale scale);
  void wait(const Work& work);
  [[nodiscard]] std::vector<std::byte*> host_addresses() const;
  void broadcast_parameters();

  std::uint64_t number_;
  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<Communicator> host_;                ///< the ranks of this host
  std::vector<std::shared_ptr<Communicator>> lanes_;  ///< buckets take turns on them
  WatchedModel watch_;
  ScopedHandle listener_;  ///< to backwards
  BucketOptions bucket_options_;
  std::int64_t grain_;
  std::shared_ptr<const ReductionTree> tree_;
  std::vector<TreeLeaf> blocks_;  ///< this rank's aligned blocks of microbatches
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;
  std::vector<std::int64_t> borders_;
  CommBuffer parameters_;
  std::vector<std::byte*> peers_;  ///< see host_addresses
  CommBuffer gradients_;
  OptimizerMemory states_;
  /// Sums of earlier backwards of the step, by flat offset.
  std::vector<float, CountedAllocator<float, MemoryCategory::gradient>> previous_;
  std::vector<Progress> progress_;
  LossCountTable loss_counts_;
  std::map<std::size_t, std::uint64_t> trained_;  ///< a hash by backward of the step's passes
  std::vector<std::size_t> pending_;              ///< by stage: parameters still to complete
  std::size_t next_stage_ = 0;                    ///< 0: what goes first; b + 1: bucket b
  std::vector<Work> works_;
  std::vector<Tensor> newcomers_;                       ///< see notice_new_parameters
  std::vector<std::shared_ptr<GradientSink>> retired_;  ///< until nobody runs in them
  FingerprintExchange step_;    ///< of the step under way, until its last backward ends
  FingerprintExchange update_;  ///< of the optimizer's part of it
  std::uint64_t backward_ = 0;
  bool completed_ = true;  ///< the latest backward did not throw
  PassSequence passes_;
  CommunicationTime time_;
  std::vector<std::weak_ptr<nn::Slot>> buffers_;
};

}  // namespace tessera::dist
