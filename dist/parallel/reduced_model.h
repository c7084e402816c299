// Which parameters take part in the reduction of gradients, as a model changes.
#pragma once

#include <memory>
#include <vector>

#include <tessera/core/autograd/leaf.h>
#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/dist/parallel/flat_ownership.h>
#include <tessera/dist/parallel/microbatch_blocks.h>
#include <tessera/dist/parallel/reduced_parameter.h>
#include <tessera/dist/parallel/reduction_strategy.h>
#include <tessera/dist/parallel/watched_model.h>

namespace tessera::dist {

class GradientReducer;

/// The parameters of a model that are trained, and those that were: each has a sink on its leaf and
/// an owner on its slot, and lies with the others in flat memory on one device.
class ReducedModel {
 public:
  /// `reducer` gets the gradients; it holds this, and all that is given here outlives this.
  ReducedModel(GradientReducer& reducer, Communicator& comm, const MicrobatchBlocks& blocks,
               WatchedModel& watched, FlatOwnership& ownership, const BucketOptions& options);
  /// Takes its sinks from the leaves.
  ~ReducedModel();
  ReducedModel(const ReducedModel&) = delete;
  ReducedModel& operator=(const ReducedModel&) = delete;

  /// The parameters in the order of buckets.
  [[nodiscard]] std::vector<ReducedParameter>& parameters() { return parameters_; }
  [[nodiscard]] const GradientMemory& gradients() const { return gradients_; }

  /// Takes the model as it is now, on which the ranks agree: lays its parameters out anew where
  /// some are new or have left, and keeps to those that are trained. Collective.
  void follow(const nn::Module& model);
  /// When a backward begins: looks at the model, and gives parameters that came to it sinks, as
  /// their first gradients have to come here too.
  void look();
  /// Whether parameters have to be laid out anew, which all ranks do together.
  [[nodiscard]] bool has_newcomers() const;
  /// To freeze a parameter and to train it again moves nothing: this rank goes on as if the others
  /// did the same, and asks them in the last pass. A part may be frozen for one backward of a pass.
  void follow_trained();
  /// What the ranks have agreed on is what this one trains, or the other way round.
  void accept_trained();
  void restore_agreed();
  /// Lets go of sinks that no backward runs in any more.
  void forget_retired() { retired_.clear(); }

 private:
  [[nodiscard]] std::vector<nn::Parameter> parameters_to_keep(const nn::Module& model) const;
  [[nodiscard]] bool is_replaced(const std::vector<nn::Parameter>& parameters) const;
  [[nodiscard]] bool lies_here(const nn::Slot& slot) const;
  void lay_out(const std::vector<nn::Parameter>& parameters);
  void make_parameters(const std::vector<Bucket>& buckets);
  void keep(std::size_t index);
  void set_trained(std::size_t index, bool trained);
  void let_go(const ReducedParameter& parameter);
  void retire_sink(const Tensor& value);
  void take_buffers(const nn::Module& model);
  [[nodiscard]] std::shared_ptr<nn::Ownership> shared_ownership();

  GradientReducer& reducer_;
  Communicator& comm_;
  const MicrobatchBlocks& blocks_;
  WatchedModel& watched_;
  FlatOwnership& ownership_;
  BucketOptions options_;
  GradientMemory gradients_;
  std::vector<ReducedParameter> parameters_;
  std::vector<Tensor> newcomers_;                       ///< values that `look` gave sinks
  std::vector<std::shared_ptr<GradientSink>> retired_;  ///< until nobody runs in them
};

}  // namespace tessera::dist
