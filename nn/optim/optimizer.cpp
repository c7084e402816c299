#include <tessera/nn/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/behind_step.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/optim/flat_range.h>
#include <tessera/nn/optim/parameter_update.h>
#include <tessera/nn/optim/runs.h>

namespace tessera::optim {
namespace {

/// The number of the step under way, counted from 1: the loader's, if there is one.
std::uint64_t step_number(std::int64_t steps) {
  const Context& context = Context::current();
  return context.pass.samples > 0 ? context.step : static_cast<std::uint64_t>(steps) + 1;
}

/// What gradients are multiplied with so that their norm is at most `limit`; as in PyTorch.
double clip_factor(double norm, double limit) {
  return limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
}

/// `name`, or where it is taken, as by a parameter of another model, "name#2" and so on.
std::string free_name(const std::string& name, const std::unordered_set<std::string>& taken) {
  std::string found = name;
  for (int number = 2; taken.contains(found); ++number) {
    found = tessera::detail::concat(name, '#', number);
  }
  return found;
}

}  // namespace

void Optimizer::add_parameters(const std::vector<nn::Parameter>& parameters, std::size_t group) {
  std::vector<Item> items = items_;
  std::uint64_t hash = names_;
  std::unordered_set<const nn::Slot*> known;
  for (const Item& item : items) {
    known.insert(item.slot.get());
  }
  for (const nn::Parameter& parameter : parameters) {
    const nn::SlotPtr slot = parameter.defined() ? parameter.slot() : nullptr;
    check(slot != nullptr, "optimizer: parameter ", &parameter - parameters.data(),
          " is undefined: default-constructed, or a name that is only reserved");
    check(slot->stored, "optimizer: the parameter ", slot->name, " has no value of its own");
    check<ValueError>(known.insert(slot.get()).second, "optimizer: the parameter ", slot->name,
                      " is in a group already");
    check_known(*slot);
    hash = mix(hash, hash_name(slot->name));
    items.push_back({.slot = slot, .group = group, .steps = 0, .state = {}});
  }
  items_ = std::move(items);
  names_ = hash;
}

/// What a state calls each parameter, in order: as the tree that it is in now does.
std::vector<std::string> Optimizer::names() const {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const Item& item : items_) {
    names.push_back(free_name(item.slot->name, taken));
    taken.insert(names.back());
  }
  return names;
}

void Optimizer::clip_grad_norm(double max_norm) {
  check(max_norm >= 0, "clip_grad_norm: the norm is out of range; got ", max_norm,
        ", expected 0 (off) or more");
  clip_ = max_norm;
}

void Optimizer::set_lr(double lr) {
  for (std::size_t group = 0; group < group_count(); ++group) {
    set_lr(group, lr);
  }
}

void Optimizer::set_momentum(double momentum) {
  bool found = false;
  write_options([&](std::size_t /*group*/, std::string_view name, double now) {
    const bool meant = name == "momentum" || name == "beta1";
    found |= meant;
    return meant ? momentum : now;
  });
  check<ValueError>(found, "set_momentum: the optimizer has neither momentum nor beta1");
  for (Item& item : items_) {
    if (item.steps > 0) {
      ensure_state(item);  // a state that is saved now has all that the options ask for
    }
  }
}

void Optimizer::zero_grad() {
  for (const Item& item : items_) {
    item.slot->drop_grad();
  }
}

std::vector<nn::Ownership*> Optimizer::ownerships() const {
  std::vector<nn::Ownership*> found;
  for (const Item& item : items_) {
    nn::Ownership* ownership = item.slot->ownership.get();
    if (ownership != nullptr && std::ranges::find(found, ownership) == found.end()) {
      found.push_back(ownership);
    }
  }
  return found;
}

/// Throws ValueError for what is known of a parameter already: lazy ones get shape and dtype later.
void Optimizer::check_known(const nn::Slot& slot) const {
  check<ValueError>(!is_complex(slot.dtype), "optimizer: the parameter ", slot.name,
                    " is complex; got ", slot.dtype, ", expected f64, f32, f16 or bf16");
  if (slot.sized()) {
    check_parameter(slot);
  }
}

/// Options may have changed what is kept since the last step, and casts its dtype. What this
/// process makes alone it keeps alone until the ranks take it over.
void Optimizer::ensure_state(Item& item) const {
  const CategoryScope category(MemoryCategory::optimizer);
  const nn::SlotPtr& slot = item.slot;
  const std::vector<StateKind> kinds = state_kinds(item.group, slot->shape);
  item.state.resize(std::min(item.state.size(), kinds.size()));
  for (Tensor& state : item.state) {
    if (state.dtype() != slot->value.dtype()) {
      state = cast(state, slot->value.dtype());
      item.state_made_by.reset();
    }
  }
  if (item.state.empty()) {
    item.state_made_by = slot->ownership;
  }
  const bool shared = slot->ownership != nullptr && is_made_by_owner(item);
  for (std::size_t i = item.state.size(); i < kinds.size(); ++i) {
    if (!shared) {
      item.state_made_by.reset();
    }
    item.state.push_back(shared ? slot->ownership->make_state(*slot, kinds[i].shape, {})
                                : zeros(kinds[i].shape, {.dtype = slot->value.dtype(),
                                                         .device = slot->value.device()}));
  }
}

/// Whether the ranks that train the parameter keep its state; true where this process is alone.
bool Optimizer::is_made_by_owner(const Item& item) {
  const std::shared_ptr<nn::Ownership>& owner = item.slot->ownership;
  return !item.state_made_by.owner_before(owner) && !owner.owner_before(item.state_made_by);
}

/// Takes state into the ranks' memory that another one kept, or this process alone, as where it was
/// loaded before the model was made data parallel. Collective.
void Optimizer::share_state(Item& item) const {
  ensure_state(item);
  const nn::SlotPtr& slot = item.slot;
  if (slot->ownership == nullptr || is_made_by_owner(item)) {
    return;
  }
  const CategoryScope category(MemoryCategory::optimizer);
  for (Tensor& state : item.state) {
    state = slot->ownership->make_state(*slot, state.shape(), state);
  }
  item.state_made_by = slot->ownership;
}

/// What `work` is updated by and of; takes the gradient out of it.
StepTensors Optimizer::own_tensors(ParameterUpdate& work) const {
  const Item& item = *work.item;
  if (!elementwise()) {
    return {work.value.detach(), std::move(work.gradient), item.state};
  }
  StepTensors part{
      flat_range(work.value, work.own), flat_range(std::move(work.gradient), work.own), {}};
  for (const Tensor& state : item.state) {
    part.states.push_back(flat_range(state, work.own));
  }
  return part;
}

/// Where ranks share the work, each run goes to the others before the next one drives it from the
/// caches.
void Optimizer::update_batch(const Batch& batch, const std::vector<StepTensors>& parameters,
                             double scale) {
  const auto [group, step, ownership] = batch;
  if (ownership == nullptr) {
    return update(group, step, parameters, scale);
  }
  using Runs = std::vector<std::vector<StepTensors>>;
  const std::int64_t cached = nn::kNormBlock * num_threads();
  for (const auto& run : elementwise() ? cut_into_runs(parameters, cached) : Runs{parameters}) {
    update(group, step, run, scale);
    for (const StepTensors& p : run) {
      ownership->all_gather_parameters(p.parameter);
    }
  }
}

void Optimizer::update_all(std::vector<ParameterUpdate>& work) {
  const TraceRange trace("update", "optimizer");
  std::map<Batch, std::vector<StepTensors>> batches;
  for (ParameterUpdate& w : work) {
    share_state(*w.item);
    if (w.own.count > 0) {
      std::vector<StepTensors>& batch = batches[{w.item->group, w.item->steps + 1, w.ownership}];
      batch.reserve(work.size());  // mostly all are in one
      batch.push_back(own_tensors(w));
    }
  }
  const double scale = clip_factor(gradient_norm_, clip_);
  for (const auto& [batch, parameters] : batches) {
    update_batch(batch, parameters, scale);
  }
  for (const ParameterUpdate& w : work) {
    const Tensor& value = w.item->slot->value;
    if (!w.value.is(value)) {
      value.copy_(w.value);
    }
    value.get().storage->bump_version();
    ++w.item->steps;
  }
  ++steps_;
}

/// True when all gradients are zeros because the losses' means were over nothing.
bool Optimizer::nothing_counted(const std::vector<ParameterUpdate>& work) {
  return !work.empty() && std::ranges::all_of(work, [](const ParameterUpdate& w) {
    return tessera::counted_nothing(w.item->slot->value);
  });
}

StepResult Optimizer::end_step(const std::vector<nn::Ownership*>& ownerships, StepResult result) {
  consume(ownerships);
  nn::forget_assigned_behind_step();
  if (Context& context = Context::current(); context.pass.samples == 0) {
    ++context.step;  // no loader counts
  }
  return result;
}

/// Ends the step: all ranks have the weights, gradients are gone.
void Optimizer::consume(const std::vector<nn::Ownership*>& ownerships) {
  for (nn::Ownership* ownership : ownerships) {
    ownership->wait_for_parameters();
  }
  zero_grad();
}

/// What is to be done about gradients with these sums of squares.
StepResult Optimizer::judge(const std::vector<ParameterUpdate>& work,
                            const std::vector<double>& squares) const {
  StepResult result{.ended = true,
                    .skipped = nothing_counted(work),
                    .gradient_norm = gradient_norm_,
                    .reason = "",
                    .parameter = ""};
  if (result.skipped) {
    result.reason = tessera::detail::concat("optimizer: no element counts in the loss of step ",
                                            step_number(steps_));
    return result;
  }
  // Backward came first to the last of them.
  const auto bad =
      std::find_if(squares.rbegin(), squares.rend(), [](double x) { return !std::isfinite(x); });
  if (bad != squares.rend()) {
    const Item* item = work[static_cast<std::size_t>(squares.rend() - bad) - 1].item;
    result.parameter = names()[static_cast<std::size_t>(item - items_.data())];
    result.reason = tessera::detail::concat("optimizer: gradient is not finite in step ",
                                            step_number(steps_), "; first in ", result.parameter);
    check<NonFiniteGradient>(non_finite_ == NonFinite::skip, result.reason);
    result.skipped = true;
  }
  return result;
}

StepResult Optimizer::step() {
  check_alike_in_passes();
  if (!Context::current().pass.last) {
    std::ranges::for_each(items_, [](const Item& item) { item.slot->put_off_update(); });
    nn::put_off_end_of_buffers(this);
    return {};
  }
  require_kept_equal();
  const NoGradGuard no_grad;
  const std::vector<nn::Ownership*> sharing = ownerships();
  std::vector<ParameterUpdate> work = collect();
  const std::uint64_t fingerprint = sharing.empty() ? 0 : step_fingerprint(work);
  for (nn::Ownership* ownership : sharing) {
    ownership->begin_comparison(fingerprint);
  }
  assign_owners(work, sharing);
  // Note [Norm over blocks]. The norm is a sum over elements and not over the batch: it takes no
  // tree. Blocks of kNormBlock elements are summed by one rank each, and every rank adds the sums
  // in the order of the parameters, so that no bit depends on how many ranks there are.
  const std::vector<double> squares = squares_of(work, sharing);
  gradient_norm_ = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  StepResult result = judge(work, squares);
  nn::end_step_of_buffers(this);  // throws before it changes any, and nothing below is refused
  if (!result.skipped) {
    update_all(work);
  }
  return end_step(sharing, std::move(result));
}

}  // namespace tessera::optim
