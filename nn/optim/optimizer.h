// What all optimizers share: groups of parameters, steps, clipping, state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tessera/core/base/loop.h>
#include <tessera/core/base/pass_sequence.h>
#include <tessera/core/ops/support/step_tensors.h>
#include <tessera/nn/optim/non_finite.h>
#include <tessera/nn/optim/state.h>
#include <tessera/nn/ownership.h>
#include <tessera/nn/parameter.h>

namespace tessera::optim {

/// What a call of `step` did.
struct StepResult {
  bool ended = false;        ///< false: passes of this step are still to come, nothing was done
  bool skipped = false;      ///< gradients were not finite, or of losses without a counted element
  double gradient_norm = 0;  ///< of all gradients, before clipping
  std::string reason;        ///< of `skipped`: names the step and `parameter`
  std::string parameter;     ///< of `skipped`, see NonFiniteGradient; empty where nothing counted
};

/// Updates parameters from their gradients.
///
/// Each rank updates its own range of every parameter (nn/ownership.h), so the work is shared
/// out; the bits are those of one process. A model may be trained by several optimizers, each with
/// parameters of its own. Not for use from several threads.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Takes the step that the gradients call for, and consumes them: no zero_grad is needed. A
  /// parameter that is frozen or without gradient is left untouched, with its state; what gradient
  /// a frozen one has is dropped. Where no element of the global batch counted in the loss (all
  /// targets ignored), nothing is changed: the step is skipped. Before the last pass of a step of
  /// several passes this does nothing: parameters may not be read until the next pass, and options
  /// and groups must be in the last pass what they were in this one. Throws NonFiniteGradient, see
  /// `on_non_finite`, ValueError naming a parameter that cannot be updated as it is, Disagreement
  /// where ranks differ in options, parameters, updates made or gradients that `set_grad` gave, and
  /// InvalidArgument naming a parameter that nobody keeps equal on the ranks of this world, or
  /// where options were changed between passes, RuntimeError where it or `Buffer::assign` is called
  /// in some passes only, all before a parameter, state or buffer is changed, and CommError.
  ///
  /// State is kept in the parameter's dtype: where that was changed, what is kept is converted, as
  /// torch.optim does when it loads a state. A parameter of any layout is updated where it lies.
  StepResult step();
  /// Drops all gradients; behind a step that is put off it leaves that to the last pass.
  void zero_grad();

  /// From now on steps scale gradients down so that the norm of all of them is at most `max_norm`;
  /// 0 turns it off, which is the default. Throws InvalidArgument when negative.
  void clip_grad_norm(double max_norm);
  /// What to do about gradients that are not finite; the default is to stop.
  void on_non_finite(NonFinite action) { non_finite_ = action; }
  /// The norm of all gradients of the last step, before clipping.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }
  /// Updates made, which skipped steps are not.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// Learning rate of a group of parameters.
  [[nodiscard]] virtual double lr(std::size_t group = 0) const = 0;
  /// Throws ValueError for a rate that cannot be meant.
  virtual void set_lr(std::size_t group, double lr) = 0;
  /// Sets the learning rate of all groups.
  void set_lr(double lr);
  /// Sets the option `momentum` of all groups, or `beta1` for optimizers that have that. Throws
  /// ValueError when there is neither.
  void set_momentum(double momentum);
  [[nodiscard]] virtual std::size_t group_count() const = 0;

  /// Valid between steps. Throws RuntimeError where ranks share the work and this one keeps only a
  /// part: dist::save_training saves all of it.
  [[nodiscard]] OptimizerState state() const;
  /// Brings the state of all parameters together on the first rank of each host, from where
  /// `own_state` has all of it. Collective.
  void gather_state() const;
  /// The state that this rank has: what other ranks keep may be zeros.
  [[nodiscard]] OptimizerState own_state() const;
  /// Throws RuntimeError naming a parameter with a gradient that no step has used, which no state
  /// holds.
  void check_between_steps() const;
  /// Copies `state` in, options included. Throws InvalidArgument naming a tensor or number that is
  /// missing, unknown, or of another shape, or an option that cannot be meant; nothing is changed
  /// then. What was never updated needs no tensors.
  void load_state(const OptimizerState& given);
  /// Throws what `load_state` would, and changes nothing.
  void check_state(const OptimizerState& given);

 protected:
  /// One parameter and what the optimizer knows of it.
  struct Item {
    nn::SlotPtr slot;
    std::size_t group = 0;
    std::int64_t steps = 0;     ///< updates made
    std::vector<Tensor> state;  ///< one per kind, empty until the first update
    std::weak_ptr<const nn::Ownership> state_made_by = {};  ///< empty: this process alone
  };
  /// One of the tensors that are kept for a parameter; the name is a literal.
  struct StateKind {
    std::string_view name;
    Shape shape;
  };

  Optimizer() = default;
  void add_parameters(const std::vector<nn::Parameter>& parameters, std::size_t group);

  /// What is kept for a parameter of `shape` in `group`.
  [[nodiscard]] virtual std::vector<StateKind> state_kinds(std::size_t group,
                                                           const Shape& shape) const = 0;
  /// Throws ValueError for a parameter that this kind of optimizer cannot update.
  virtual void check_parameter(const nn::Slot& /*slot*/) const {}
  /// Updates parameters and states of one group for the `step`-th time, counted from 1. Gradients
  /// are to be multiplied with `scale`. States are in the order of `state_kinds`.
  virtual void update(std::size_t group, std::int64_t step, std::span<const StepTensors> parameters,
                      double scale) = 0;
  /// True: `update` gets runs of elements, tensors on the memory of the whole ones. False
  /// when it needs whole tensors: then one rank updates all of a parameter.
  [[nodiscard]] virtual bool elementwise() const { return true; }
  /// Calls `field(name, number)` for every option of a group.
  using ReadField = std::function<void(std::string_view name, double value)>;
  using WriteField = std::function<double(std::size_t group, std::string_view name, double value)>;
  virtual void read_options(std::size_t group, const ReadField& field) const = 0;
  /// Sets every option of every group to what `field(group, name, current)` returns; where one
  /// cannot be meant, throws ValueError and changes none.
  virtual void write_options(const WriteField& field) = 0;

 private:
  struct ParameterUpdate;  // a parameter that has a gradient
  struct SomeWeights;      // which of them a step compares
  /// The calls of `step` in the passes of one training step.
  struct CallsInPasses {
    PassSequence passes;
    std::size_t in_pass = 0;             ///< calls in the latest
    std::weak_ptr<const Loop> loop;      ///< whose pass the latest is
    std::int64_t next = 0;               ///< the microbatch behind the latest
    bool open = false;                   ///< the latest was not the step's last
    std::vector<std::uint64_t> options;  ///< a hash at each call of the first pass
  };
  /// What is updated in one go: a group, the number of the update, and whose ranks share it.
  using Batch = std::tuple<std::size_t, std::int64_t, nn::Ownership*>;
  [[nodiscard]] std::vector<nn::Ownership*> ownerships() const;
  [[nodiscard]] std::vector<std::string> names() const;
  void check_known(const nn::Slot& slot) const;
  [[nodiscard]] std::vector<ParameterUpdate> collect();
  static void keep_apart(std::vector<ParameterUpdate>& work);
  void assign_owners(std::vector<ParameterUpdate>& work,
                     const std::vector<nn::Ownership*>& sharing);
  [[nodiscard]] std::vector<double> squares_of(const std::vector<ParameterUpdate>& work,
                                               std::vector<nn::Ownership*> sharing) const;
  void require_kept_equal() const;
  [[nodiscard]] std::uint64_t options_hash() const;
  void check_alike_in_passes();
  void check_called_in_passes(PassSequence::Entered entered);
  [[nodiscard]] std::uint64_t step_fingerprint(const std::vector<ParameterUpdate>& work) const;
  [[nodiscard]] SomeWeights some_weights(const std::vector<ParameterUpdate>& work) const;
  [[nodiscard]] nn::Facts step_facts(const std::vector<ParameterUpdate>& work) const;
  [[nodiscard]] StepResult judge(const std::vector<ParameterUpdate>& work,
                                 const std::vector<double>& squares) const;
  void update_all(std::vector<ParameterUpdate>& work);
  void update_batch(const Batch& batch, const std::vector<StepTensors>& parameters, double scale);
  [[nodiscard]] static bool nothing_counted(const std::vector<ParameterUpdate>& work);
  StepResult end_step(const std::vector<nn::Ownership*>& ownerships, StepResult result);
  void consume(const std::vector<nn::Ownership*>& ownerships);
  void ensure_state(Item& item) const;
  [[nodiscard]] static bool is_made_by_owner(const Item& item);
  void share_state(Item& item) const;
  [[nodiscard]] StepTensors own_tensors(ParameterUpdate& work) const;
  using Matched = std::vector<std::pair<Item*, std::vector<Tensor>>>;
  using Numbers = std::map<std::string, double>;
  [[nodiscard]] Matched match(const OptimizerState& state);
  [[nodiscard]] Matched match_tensors(const OptimizerState& state);
  [[nodiscard]] std::vector<std::size_t> saved_groups(Numbers& saved) const;
  void load_numbers(const OptimizerState& state);

  std::vector<Item> items_;
  std::uint64_t names_ = 0;  ///< a hash of the items' names, in order
  std::int64_t steps_ = 0;
  double clip_ = 0;
  double gradient_norm_ = 0;
  NonFinite non_finite_ = NonFinite::stop;
  CallsInPasses calls_;
};

}  // namespace tessera::optim
