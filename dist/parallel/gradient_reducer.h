// Reduces gradients in buckets while backward runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <tessera/core/base/hook_list.h>
#include <tessera/core/base/pass_sequence.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/communication_time.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/flat_ownership.h>
#include <tessera/dist/parallel/launch_order.h>
#include <tessera/dist/parallel/loss_count_table.h>
#include <tessera/dist/parallel/microbatch_blocks.h>
#include <tessera/dist/parallel/reduced_model.h>
#include <tessera/dist/parallel/reduction_strategy.h>
#include <tessera/dist/parallel/step_agreement.h>

namespace tessera::dist {

/// How a reducer's ranks reduce gradients: made with its communicator, and with what says which
/// elements each rank updates.
using MakeStrategy = std::function<std::unique_ptr<ReductionStrategy>(
    const std::shared_ptr<Communicator>&, const FlatOwnership&)>;

/// What happens in a backward of data parallel training, see data_parallel.h. Its parts, each of
/// which stands alone: sums over microbatches (microbatch_sums.h), buckets (bucket_layout.h,
/// flat_memory.h), the strategy (reduction_strategy.h), sparse gradients (sparse_exchange.h) and
/// ownership (flat_ownership.h); when what is launched (launch_order.h), which parameters take part
/// (reduced_model.h), and whether all ranks mean the same (step_agreement.h).
class GradientReducer final : public std::enable_shared_from_this<GradientReducer> {
 public:
  /// `model().follow` is to be called next.
  GradientReducer(nn::Module& model, std::shared_ptr<Communicator> comm,
                  const DataParallelOptions& options, const MakeStrategy& make_strategy);
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  [[nodiscard]] ReducedModel& model() { return model_; }
  [[nodiscard]] FlatOwnership& ownership() { return ownership_; }
  [[nodiscard]] LossCountTable& loss_counts() { return loss_counts_; }
  /// Among the reducers that this thread made.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The communication since the last call.
  [[nodiscard]] CommunicationTime take_time() { return waits_.take(); }

  /// Whether earlier passes of the step that the current pass is of have brought gradients.
  [[nodiscard]] bool is_in_step();

  /// Where a forward may write the gradient of a parameter, if anywhere.
  [[nodiscard]] Tensor early_destination(std::size_t index);
  // For a backward. The first is called before each of the others.
  void begin_backward();
  [[nodiscard]] Tensor destination(std::size_t index);
  void take_dense(std::size_t index, Tensor dense);
  void complete(std::size_t index, SparseGradient rows);
  [[nodiscard]] double take_counts(const PassCounts& counts);

 private:
  [[nodiscard]] bool evaluates_in_step() const;
  void check_drops_no_pass();
  void forget_step();
  void restore_gradients() noexcept;
  void settle_gradients() noexcept;
  void agree();
  void begin_last_pass();
  void settle(ReducedParameter& parameter);
  void end_backward();
  void add_sparse(const UsedParameters& table);
  void wait_for_launched();
  [[noreturn]] void abandon();

  std::uint64_t number_;
  std::shared_ptr<Communicator> comm_;
  MicrobatchBlocks blocks_;
  TimedWaits waits_;
  WatchedModel watched_;
  FlatOwnership ownership_;
  std::unique_ptr<ReductionStrategy> strategy_;
  ReducedModel model_;
  LaunchOrder order_;
  StepAgreement agreement_;
  LossCountTable loss_counts_;
  ScopedHandle listener_;  ///< to backwards
  std::uint64_t backward_ = 0;
  bool completed_ = true;  ///< the latest backward did not throw
  PassSequence passes_;
  std::weak_ptr<const Loop> trains_in_;  ///< the loop of the latest backward, where that trained
};

}  // namespace tessera::dist
