#include <tessera/dist/parallel/step_agreement.h>

#include <algorithm>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/batch_source.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>

namespace tessera::dist {
namespace {

constexpr const char* kChangedInStep =
    "data_parallel: the model was changed between two passes of a step; freeze, unfreeze and "
    "replace parts of it between steps, or alike in each pass";

}  // namespace

void StepAgreement::begin() {
  if (!step_.under_way() && comm_.size() > 1) {
    step_.begin(comm_, fingerprint(), "backward: what is trained on which data");
  }
}

bool StepAgreement::require() {
  if (step_.under_way()) {
    waits_.wait(step_.work());
    const bool equal = step_.all_equal();
    step_.end();
    if (!equal) {
      require_agreement(comm_, "data_parallel", facts());
    }
  }
  const bool changed = watched_.change() != WatchedModel::Change::none;
  if (changed) {
    watched_.accept();
  }
  return changed;
}

void StepAgreement::check_trained_alike(std::span<const ReducedParameter> parameters) {
  std::uint64_t trained = 0;
  for (const ReducedParameter& parameter : parameters) {
    trained = mix(trained, parameter.trained ? 1 : 0);
  }
  const auto [before, first] = trained_.try_emplace(backward_in_pass(), trained);
  check(first || before->second == trained, kChangedInStep);
}

void StepAgreement::check_between_steps(std::span<const ReducedParameter> parameters) const {
  const auto begun = [](const ReducedParameter& parameter) { return parameter.sums.has_any(); };
  check(!step_.under_way() && std::ranges::none_of(parameters, begun), kChangedInStep);
}

std::uint64_t StepAgreement::fingerprint() const {
  std::uint64_t fingerprint = mix(watched_.modes(), Context::current().seed);
  if (const auto& source = Context::current().source; source != nullptr) {
    fingerprint =
        mix(mix(fingerprint, source->fingerprint), static_cast<std::uint64_t>(source->position));
    fingerprint = mix(fingerprint, hash_name(source->sizes));
  }
  return watched_.change() == WatchedModel::Change::none
             ? fingerprint
             : mix(fingerprint, fingerprint_of(watched_.facts()));
}

Facts StepAgreement::facts() const {
  const Context& context = Context::current();
  Facts facts;
  if (context.source != nullptr) {
    facts = context.source->facts;
    facts.emplace_back("batches before this one", std::to_string(context.source->position));
    facts.emplace_back("sizes of samples (pad all to one length, or use at_once = 1)",
                       context.source->sizes);
  }
  for (auto& fact : watched_.facts()) {
    facts.push_back(std::move(fact));
  }
  facts.emplace_back("seed of random numbers", std::to_string(context.seed));
  return facts;
}

}  // namespace tessera::dist
