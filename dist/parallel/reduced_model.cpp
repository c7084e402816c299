#include <tessera/dist/parallel/reduced_model.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/tensor/overlap.h>
#include <tessera/dist/parallel/reducer_sink.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::dist {
namespace {

constexpr const char* kAppliedInStep =
    "data_parallel: applied between two passes of a step, whose earlier gradients would be lost; "
    "apply it between steps, as in `if (optimizer.step().ended)`";

ReducerSink* sink_of(const Tensor& value, const GradientReducer& reducer) {
  const LeafNode* leaf = known_leaf_of(value);
  auto* sink = leaf != nullptr ? dynamic_cast<ReducerSink*>(leaf->sink.get()) : nullptr;
  return sink != nullptr && sink->belongs_to(reducer) ? sink : nullptr;
}

/// What a rank computed alone cannot be made the ranks' common gradient.
void check_no_gradient(const nn::Slot& slot) {
  check(!slot.value.grad().defined(), "data_parallel: ", slot.name,
        " has a gradient of this rank's samples alone; drop it before with zero_grad");
}

/// Throws for a parameter that another reducer keeps, too: each would bring it the sums of its own
/// model's uses.
void check_kept_alone(const std::vector<nn::Parameter>& parameters, const FlatOwnership& own) {
  const FlatOwnership* fine = &own;  // or another one, whose place this one takes
  for (const nn::Parameter& p : parameters) {
    const auto* other = dynamic_cast<const FlatOwnership*>(p.slot()->ownership.get());
    check(other == nullptr || other == fine || other->lies_within(parameters),
          "data_parallel: ", p.slot()->name,
          " is shared with another model to which data_parallel was applied; apply it once, to a "
          "module that holds both");
    fine = other != nullptr ? other : fine;
  }
}

/// Throws where another reducer, whose place this one takes, has sums of a step under way.
void check_others_between_steps(const std::vector<nn::Parameter>& parameters,
                                const GradientReducer& own) {
  for (const nn::Parameter& p : parameters) {
    const LeafNode* leaf = known_leaf_of(p.slot()->value);
    const auto* sink =
        leaf != nullptr ? dynamic_cast<const ReducerSink*>(leaf->sink.get()) : nullptr;
    check(sink == nullptr || sink->belongs_to(own) || !sink->is_in_step(), kAppliedInStep);
  }
}

/// Other reducers' optimizer state, of which this rank has its part alone, becomes whole before
/// another one takes their place. Collective.
void complete_states_of_others(const std::vector<nn::Parameter>& parameters,
                               const FlatOwnership& own) {
  const FlatOwnership* done = &own;
  for (const nn::Parameter& p : parameters) {
    const auto* other = dynamic_cast<const FlatOwnership*>(p.slot()->ownership.get());
    if (other != nullptr && other != &own && other != done) {
      other->complete_states();
      done = other;
    }
  }
}

bool is_among(const ReducedParameter& parameter, const std::vector<nn::Parameter>& parameters) {
  const nn::SlotPtr slot = parameter.entry.alive.lock();
  return slot != nullptr &&
         std::ranges::any_of(parameters, [&](const auto& p) { return p.slot() == slot; });
}

/// Whether a dense `x` lies in the memory of `value`; strided ones may take turns there.
bool shows(const Tensor& x, const Tensor& value) {
  return x.defined() && x.get().storage != nullptr && x.get().storage == value.get().storage &&
         x.is_contiguous() && value.is_contiguous() && overlap_of(x, value) != Overlap::none;
}

/// Parameters move to memory of the ranks': what shows theirs now would go on to show the old.
void check_shown_nowhere(const nn::Module& model, const std::vector<nn::Parameter>& parameters) {
  for (const auto& [name, slot] : model.named_slots()) {
    const auto itself = [&slot = slot](const nn::Parameter& p) { return p.slot() == slot; };
    if (std::ranges::any_of(parameters, itself)) {
      continue;
    }
    for (const nn::Parameter& p : parameters) {
      check<ValueError>(!shows(slot->value, p.slot()->value), "data_parallel: ", name,
                        " lies in the memory of the parameter ", p.slot()->name,
                        ", which moves to memory that the ranks share; expected a clone(x)");
    }
  }
}

/// One space holds them all.
void check_one_device(const std::vector<nn::Parameter>& parameters) {
  for (const nn::Parameter& p : parameters) {
    const Device& first = parameters[0].slot()->value.device();
    check<Unsupported>(p.slot()->value.device() == first, "data_parallel: ", p.slot()->name,
                       " is not where the other parameters are; got ", p.slot()->value.device(),
                       ", expected ", first, " as of ", parameters[0].slot()->name);
  }
}

/// Where samples mix, microbatches run one by one.
void limit_passes(const nn::Module& model, int rank) {
  for (const auto& [path, module] : model.named_modules()) {
    if (!module->mixes_samples() || std::exchange(Context::current().mixes_samples, true)) {
      continue;
    }
    if (rank == 0) {
      log_info("data_parallel: ", path.empty() ? "the model" : path, " (", module->class_name(),
               ") mixes samples, so microbatches run one at a time");
    }
  }
}

}  // namespace

ReducedModel::ReducedModel(GradientReducer& reducer, Communicator& comm,
                           const MicrobatchBlocks& blocks, WatchedModel& watched,
                           FlatOwnership& ownership, const BucketOptions& options)
    : reducer_(reducer),
      comm_(comm),
      blocks_(blocks),
      watched_(watched),
      ownership_(ownership),
      options_(options) {
  gradients_.tree = blocks.tree();
}

ReducedModel::~ReducedModel() {
  for (const ReducedParameter& parameter : parameters_) {
    let_go(parameter);
  }
  for (const Tensor& value : newcomers_) {
    retire_sink(value);
  }
}

void ReducedModel::look() {
  watched_.look();
  if (watched_.change() < WatchedModel::Change::trained) {
    return;
  }
  const std::vector<nn::Parameter> parameters = watched_.model()->parameters();
  if (is_replaced(parameters)) {
    return;
  }
  for (const nn::Parameter& parameter : parameters) {
    const nn::Slot& slot = *parameter.slot();
    if (is_trained(slot) && (slot.ownership == nullptr || ownership_.keeps(slot)) &&
        leaf_of(slot.value).sink == nullptr) {
      leaf_of(slot.value).sink = std::make_shared<ReducerSink>(reducer_);
      newcomers_.push_back(slot.value);
    }
  }
}

/// Whether another reducer has taken this one's place.
bool ReducedModel::is_replaced(const std::vector<nn::Parameter>& parameters) const {
  const auto kept = [](const nn::Parameter& p) { return p.slot()->ownership != nullptr; };
  const auto kept_here = [this](const nn::Parameter& p) { return ownership_.keeps(*p.slot()); };
  return std::ranges::any_of(parameters, kept) && std::ranges::none_of(parameters, kept_here);
}

void ReducedModel::follow(const nn::Module& model) {
  const auto alive = shared_ownership();  // slots that leave let go of it
  check_kept_alone(model.parameters(), ownership_);
  check_others_between_steps(model.parameters(), reducer_);
  const std::vector<nn::Parameter> parameters = parameters_to_keep(model);
  const auto known = [this](const nn::Parameter& p) { return lies_here(*p.slot()); };
  const auto stays = [&](const ReducedParameter& p) { return is_among(p, parameters); };
  if (!gradients_.flat || !std::ranges::all_of(parameters, known) ||
      !std::ranges::all_of(parameters_, stays)) {
    check_shown_nowhere(model, parameters);
    complete_states_of_others(parameters, ownership_);
    lay_out(parameters);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    keep(i);
  }
  for (const Tensor& value : std::exchange(newcomers_, {})) {
    const auto is_its = [&](const auto& p) { return &p.value.get() == &value.get(); };
    if (std::ranges::none_of(parameters_, is_its)) {  // it left before its first gradient
      retire_sink(value);
    }
  }
  take_buffers(model);
  limit_passes(model, comm_.rank());
  watched_.accept();
}

/// Parameters that are trained, and those that were, here or with another reducer.
std::vector<nn::Parameter> ReducedModel::parameters_to_keep(const nn::Module& model) const {
  std::vector<nn::Parameter> parameters = model.parameters();
  std::erase_if(parameters, [](const nn::Parameter& p) {
    return !is_trained(*p.slot()) && p.slot()->ownership == nullptr;
  });
  return parameters;
}

bool ReducedModel::lies_here(const nn::Slot& slot) const {
  return ownership_.keeps(slot) && std::ranges::any_of(parameters_, [&](const auto& parameter) {
           return parameter.entry.slot == &slot && &parameter.value.get() == &slot.value.get();
         });
}

void ReducedModel::lay_out(const std::vector<nn::Parameter>& parameters) {
  for (const nn::Parameter& p : parameters) {
    if (comm_.size() > 1 && !ownership_.keeps(*p.slot())) {
      check_no_gradient(*p.slot());
    }
  }
  check_one_device(parameters);
  std::vector<const nn::Slot*> slots;
  for (const nn::Parameter& p : parameters) {
    slots.push_back(p.slot().get());
  }
  nn::check_apart("data_parallel", slots);
  const Device device = parameters.empty() ? Device{} : parameters[0].slot()->value.device();
  std::vector<Bucket> buckets = make_buckets(parameters, options_);
  const std::int64_t count = flat_count(buckets);
  // First: what there is no memory for is refused while all is as it was.
  FlatMemory gradients(comm_, device, count, MemoryCategory::gradient,
                       count * (blocks_.most() - 1));
  gradients.take_pages({0, count * blocks_.most()});
  ownership_.lay_out(std::move(buckets), device);
  gradients_.flat = std::move(gradients);
  const std::vector<ReducedParameter> left = std::exchange(parameters_, {});
  make_parameters(ownership_.buckets());
  for (const ReducedParameter& parameter : left) {
    const auto is_its = [&](const auto& now) { return &now.value.get() == &parameter.value.get(); };
    if (std::ranges::none_of(parameters_, is_its)) {
      let_go(parameter);
    }
  }
}

void ReducedModel::make_parameters(const std::vector<Bucket>& buckets) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    for (const BucketEntry& entry : buckets[b].entries) {
      std::vector<Tensor> memory;
      for (std::size_t block = 0; block < blocks_.own().size(); ++block) {
        memory.push_back(gradients_.flat.at(
            gradient_offset(buckets[b], entry, block, blocks_.most()), entry.slot->shape));
      }
      parameters_.push_back({.entry = entry,
                             .bucket = b,
                             .name = entry.slot->name,
                             .value = entry.slot->value,
                             .sums = MicrobatchSums(blocks_, std::move(memory))});
    }
  }
}

/// What has a place takes part while it is trained.
void ReducedModel::keep(std::size_t index) {
  ReducedParameter& parameter = parameters_[index];
  const nn::SlotPtr slot = parameter.entry.alive.lock();
  slot->ownership = shared_ownership();
  if (sink_of(parameter.value, reducer_) == nullptr) {
    leaf_of(parameter.value).sink = std::make_shared<ReducerSink>(reducer_);
  }
  set_trained(index, is_trained(*slot));
  parameter.agreed = parameter.trained;
}

void ReducedModel::set_trained(std::size_t index, bool trained) {
  parameters_[index].trained = trained;
  sink_of(parameters_[index].value, reducer_)->set_index(trained ? index : ReducerSink::kNoIndex);
}

bool ReducedModel::has_newcomers() const {
  if (watched_.change() != WatchedModel::Change::trained) {
    return watched_.change() == WatchedModel::Change::structure;
  }
  return std::ranges::any_of(parameters_to_keep(*watched_.model()),
                             [this](const nn::Parameter& p) { return !lies_here(*p.slot()); });
}

void ReducedModel::follow_trained() {
  const auto differs = [](const auto& parameter) { return parameter.trained != parameter.agreed; };
  if (watched_.change() != WatchedModel::Change::trained &&
      std::ranges::none_of(parameters_, differs)) {
    return;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const nn::SlotPtr slot = parameters_[i].entry.alive.lock();
    if (slot != nullptr && ownership_.keeps(*slot) && parameters_[i].trained != is_trained(*slot)) {
      set_trained(i, is_trained(*slot));
    }
  }
}

void ReducedModel::accept_trained() {
  for (ReducedParameter& parameter : parameters_) {
    parameter.agreed = parameter.trained;
  }
}

void ReducedModel::restore_agreed() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].trained != parameters_[i].agreed) {
      set_trained(i, parameters_[i].agreed);
    }
  }
}

/// From now on the slot and its tensor are on their own.
void ReducedModel::let_go(const ReducedParameter& parameter) {
  retire_sink(parameter.value);
  if (const nn::SlotPtr slot = parameter.entry.alive.lock();
      slot != nullptr && ownership_.keeps(*slot)) {
    slot->ownership = nullptr;
  }
}

/// It may be what called.
void ReducedModel::retire_sink(const Tensor& value) {
  if (ReducerSink* sink = sink_of(value, reducer_); sink != nullptr) {
    sink->set_index(ReducerSink::kNoIndex);
    retired_.push_back(std::exchange(leaf_of(value).sink, nullptr));
  }
}

void ReducedModel::take_buffers(const nn::Module& model) {
  for (const nn::SlotPtr& slot : ownership_.buffers()) {
    slot->ownership = nullptr;
  }
  std::vector<std::weak_ptr<nn::Slot>> buffers;
  for (const auto& [name, buffer] : model.named_buffers()) {
    buffer.slot()->ownership = shared_ownership();
    buffers.push_back(buffer.slot());
  }
  if (!buffers.empty()) {
    nn::add_keeper_of_buffers(shared_ownership());
  }
  ownership_.set_buffers(std::move(buffers));
}

/// What holds it holds the reducer.
std::shared_ptr<nn::Ownership> ReducedModel::shared_ownership() {
  return {reducer_.shared_from_this(), &ownership_};
}

}  // namespace tessera::dist
