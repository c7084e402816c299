// What ranks that take a step together must have in common.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <typeinfo>

#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/behind_step.h>
#include <tessera/nn/optim/flat_range.h>
#include <tessera/nn/optim/parameter_update.h>
#include <tessera/nn/tree/class_info.h>

namespace tessera::optim {
namespace {

std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// The shortest text that is this number alone.
std::string exact_text(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  return {text.data(), end};
}

/// The hash of a gradient that the program set; 0 for what backwards computed, which is equal on
/// all ranks.
std::uint64_t hash_of_given(const Tensor& parameter, const Tensor& gradient) {
  const LeafNode* leaf = known_leaf_of(parameter);
  if (leaf == nullptr || !leaf->grad_is_given()) {
    return 0;
  }
  return hash_elements(gradient);
}

}  // namespace

/// Where this process is one of several that train together, somebody must keep them equal.
void Optimizer::require_kept_equal() const {
  const Context& context = Context::current();
  if (context.world_size == 1) {
    return;
  }
  for (const Item& item : items_) {
    const Tensor& value = item.slot->value;
    const bool kept = item.slot->ownership != nullptr || !value.defined() ||
                      !value.requires_grad() || !value.grad().defined();
    check(kept, "optimizer: rank ", context.rank, " of ", context.world_size, " would update ",
          item.slot->name,
          " by its own samples alone, and ranks would train different models; call "
          "dist::data_parallel(model, world.communicator(), {.grain = loader.grain()}) before the "
          "first step and keep what it returns where all of a model may be replaced, make the "
          "optimizer anew where the parameter has left the model since, or start the world with "
          "WorldOptions{.independent = true} where every rank trains a model of its own");
  }
}

/// Changes with what a user may change between two steps.
std::uint64_t Optimizer::options_hash() const {
  std::uint64_t hash = mix(names_, hash_name(typeid(*this).name()));
  hash = mix(hash, bits_of(clip_));
  hash = mix(hash, static_cast<std::uint64_t>(non_finite_));
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      hash = mix(mix(hash, hash_name(name)), bits_of(value));
    });
  }
  return hash;
}

/// A count of the program's own that decides when to call `step` counts passes. Where it comes to
/// last passes alone it looks like a program that asks for them, which is as good as all passes.
void Optimizer::check_called_in_passes(PassSequence::Entered entered) {
  const Context& context = Context::current();
  const Pass& pass = context.pass;
  const bool same = entered == PassSequence::Entered::same;
  if (context.loop != nullptr && !same) {
    const bool first = entered == PassSequence::Entered::first;
    const bool skipped =
        first ? pass.first != context.loop->first && !pass.last : pass.first != calls_.next;
    const bool left = first && calls_.open && calls_.loop.lock() == context.loop;
    check<RuntimeError>(
        !left && !skipped,
        "optimizer: step() is called in some passes of a training step and not in the others; got ",
        left ? "no call in the last pass of the step before" : "none in a pass before this one",
        ", in step ", context.step, " with microbatches ", pass.first, " to ",
        pass.first + pass.count - 1,
        "; decide by Context::current().step, which is the same in all of them, or count in "
        "`if (optimizer.step().ended)`");
    if (first && pass.first != context.loop->first && context.rank == 0) {
      log_once(
          "step in last passes", LogLevel::info,
          "optimizer: step() is called in the last pass of training steps alone; where a count "
          "of the program's own decides so, it counts passes: Context::current().step counts "
          "steps");
    }
  }
  calls_.loop = context.loop;
  calls_.next = pass.first + pass.count;
  calls_.open = !pass.last;
}

/// What is changed after a step that is put off would be in the update that is still to come, and
/// is not where a step has one pass.
void Optimizer::check_alike_in_passes() {
  const PassSequence::Entered entered = calls_.passes.enter();
  check_called_in_passes(entered);
  if (entered == PassSequence::Entered::first) {
    calls_.options.clear();
  }
  calls_.in_pass = entered == PassSequence::Entered::same ? calls_.in_pass : 0;
  if (Context::current().pass.last && calls_.options.empty()) {
    return;
  }
  std::uint64_t now = options_hash();
  for (const Item& item : items_) {
    now = mix(now, item.slot->requires_grad() ? 1 : 0);
  }
  if (calls_.in_pass == calls_.options.size()) {
    calls_.options.push_back(now);
  }
  check(
      calls_.options[calls_.in_pass] == now,
      "optimizer: options, groups or what is frozen were changed between two passes of a training "
      "step; put the change into `if (optimizer.step().ended)`, or before step() in every pass");
  ++calls_.in_pass;
}

/// A few weights, others in each step, of the parameter that is updated `number`-th; none where no
/// ranks, or several sets of them, train the parameters, or a device would have to be waited for.
/// By their hash it comes out what one rank alone did to its weights or to what updates them:
/// between hosts, each of which updates all of them, nothing would put it right.
struct Optimizer::SomeWeights {
  std::size_t number = 0;
  nn::ElementRange range;
};

Optimizer::SomeWeights Optimizer::some_weights(const std::vector<ParameterUpdate>& work) const {
  constexpr std::int64_t kCompared = 4096;  // some microseconds' work
  if (work.empty() || ownerships().size() != 1) {
    return {};
  }
  const auto parameters = static_cast<std::int64_t>(work.size());
  const std::int64_t number = steps_ % parameters;
  const ParameterUpdate& chosen = work[static_cast<std::size_t>(number)];
  const std::int64_t numel = chosen.value.numel();
  if (chosen.ownership == nullptr || !chosen.value.device().is_cpu() || numel == 0) {
    return {};
  }
  const std::int64_t runs = (numel + kCompared - 1) / kCompared;
  const std::int64_t first = steps_ / parameters % runs * kCompared;
  return {.number = static_cast<std::size_t>(number),
          .range = {first, std::min(kCompared, numel - first)}};
}

/// Changes with everything that `step_facts` names.
std::uint64_t Optimizer::step_fingerprint(const std::vector<ParameterUpdate>& work) const {
  std::uint64_t hash = mix(options_hash(), static_cast<std::uint64_t>(steps_));
  for (const Item& item : items_) {
    hash = mix(hash, mix(item.group, static_cast<std::uint64_t>(item.steps)));
  }
  for (const ParameterUpdate& w : work) {
    hash = mix(hash, static_cast<std::uint64_t>(w.item - items_.data()));
    hash = mix(hash, hash_of_given(w.item->slot->value, w.gradient));
  }
  if (const SomeWeights some = some_weights(work); some.range.count > 0) {
    hash = mix(hash, hash_elements(flat_range(work[some.number].value.detach(), some.range)));
  }
  return mix(hash, nn::hash_of_assigned(nn::assigned_behind_step()));
}

nn::Facts Optimizer::step_facts(const std::vector<ParameterUpdate>& work) const {
  // The class with its template arguments, which tell Adam from AdamW.
  nn::Facts facts{{"class", nn::detail::demangle_whole(typeid(*this).name())},
                  {"clip_grad_norm", exact_text(clip_)},
                  {"on_non_finite", non_finite_ == NonFinite::skip ? "skip" : "stop"},
                  {"steps", std::to_string(steps_)}};
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      facts.emplace_back(tessera::detail::concat(name, " of group ", group), exact_text(value));
    });
  }
  std::vector<std::string> gradients(items_.size(), "no gradient");
  for (const ParameterUpdate& w : work) {
    const std::uint64_t given = hash_of_given(w.item->slot->value, w.gradient);
    gradients[static_cast<std::size_t>(w.item - items_.data())] =
        given == 0 ? "a gradient"
                   : tessera::detail::concat("a gradient by set_grad, value hash ", given);
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    facts.emplace_back(item.slot->name,
                       tessera::detail::concat("group ", item.group, ", ", item.steps, " updates, ",
                                               gradients[i]));
  }
  if (const SomeWeights some = some_weights(work); some.range.count > 0) {
    const ParameterUpdate& w = work[some.number];
    facts.emplace_back(
        tessera::detail::concat("values of ", w.item->slot->name, " from element ",
                                some.range.first, " on"),
        tessera::detail::concat("hash ", hash_elements(flat_range(w.value.detach(), some.range))));
  }
  for (auto& fact : nn::assigned_behind_step()) {
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace tessera::optim
