// Whether the ranks train the same: what a rank compares with the others in each step.
#include <algorithm>
#include <functional>

#include <tessera/core/base/batch_source.h>
#include <tessera/core/base/philox.h>
#include <tessera/dist/parallel/reducer_sink.h>

namespace tessera::dist {
namespace {

using Change = WatchedModel::Change;

constexpr const char* kChangedInStep =
    "data_parallel: the model was changed between two passes of a step; freeze, unfreeze and "
    "replace parts of it between steps, or alike in each pass";

}  // namespace

/// See Note [What may change]. Before the last pass a rank asks only where it cannot go on without
/// an answer: ranks of one pass come to the next model's question after this one's buckets, so
/// those of several may not ask it before.
void GradientReducer::agree() {
  retired_.clear();
  const bool moves = has_newcomers();
  if (moves) {
    check_between_steps();
  } else {
    follow_trained();
  }
  const Pass& pass = Context::current().pass;
  const bool at_once = moves || find_block(pass) == blocks_.size();
  if (!step_.under_way() && comm_->size() > 1 && (at_once || pass.last)) {
    step_.begin(*comm_, step_fingerprint(), "backward: what is trained on which data");
    if ((at_once || watch_.change() == Change::trained) && !step_.all_equal()) {
      abandon();
    }
  }
  if (moves) {
    follow_model(*watch_.model());
  }
  check_trained_alike();
}

/// Whether parameters have to be laid out anew, which all ranks do together.
bool GradientReducer::has_newcomers() const {
  if (watch_.change() != Change::trained) {
    return watch_.change() == Change::structure;
  }
  return std::ranges::any_of(parameters_to_keep(*watch_.model()),
                             [this](const nn::Parameter& p) { return !lies_here(*p.slot()); });
}

/// To freeze a parameter and to train it again moves nothing: this rank goes on as if the others
/// did the same, and asks them in the last pass. A part may be frozen for one backward of a pass.
void GradientReducer::follow_trained() {
  const auto differs = [](const Place& place) { return place.trained != place.agreed; };
  if (watch_.change() != Change::trained && std::ranges::none_of(places_, differs)) {
    return;
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const nn::SlotPtr slot = places_[i].entry.alive.lock();
    if (slot != nullptr && keeps(*slot) && places_[i].trained != is_trained(*slot)) {
      set_trained(i, is_trained(*slot));
    }
  }
}

/// A sum over the step's passes is one of the same parameters in each.
void GradientReducer::check_trained_alike() {
  std::uint64_t trained = 0;
  for (const Place& place : places_) {
    trained = mix(trained, place.trained ? 1 : 0);
  }
  const auto [before, first] = trained_.try_emplace(backward_in_pass(), trained);
  check(first || before->second == trained, kChangedInStep);
}

void GradientReducer::check_between_steps() const {
  const bool begun = std::ranges::any_of(progress_, [](const Progress& progress) {
    return !progress.rounds.empty() || std::ranges::any_of(progress.filled, std::identity{});
  });
  check(!step_.under_way() && !begun, kChangedInStep);
}

std::uint64_t GradientReducer::step_fingerprint() const {
  std::uint64_t fingerprint = mix(watch_.modes(), Context::current().seed);
  if (const auto& source = Context::current().source; source != nullptr) {
    fingerprint =
        mix(mix(fingerprint, source->fingerprint), static_cast<std::uint64_t>(source->position));
    fingerprint = mix(fingerprint, hash_name(source->sizes));
  }
  return watch_.change() == Change::none ? fingerprint
                                         : mix(fingerprint, fingerprint_of(watch_.facts()));
}

Facts GradientReducer::step_facts() const {
  const Context& context = Context::current();
  Facts facts;
  if (context.source != nullptr) {
    facts = context.source->facts;
    facts.emplace_back("batches before this one", std::to_string(context.source->position));
    facts.emplace_back("sizes of samples (pad all to one length, or use at_once = 1)",
                       context.source->sizes);
  }
  for (auto& fact : watch_.facts()) {
    facts.push_back(std::move(fact));
  }
  facts.emplace_back("seed of random numbers", std::to_string(context.seed));
  return facts;
}

/// The ranks differ, and this one cannot go on: the others get what they wait for, zeros, and find
/// out when their backward ends.
void GradientReducer::abandon() {
  for (Place& place : places_) {
    place.trained = place.agreed;
  }
  count_pending();
  end_backward();
  fail<Disagreement>("data_parallel: ranks differ in what they train");
}

/// A rank that waits for what another should tell first finds out whether that one goes on.
double GradientReducer::take_counts(const PassCounts& counts) {
  begin_backward();
  if (!loss_counts_.has_agreed() && step_.under_way() && !step_.all_equal()) {
    abandon();
  }
  return loss_counts_.add(counts);
}

/// Before anything that this backward brought is used.
void GradientReducer::require_equal() {
  if (step_.under_way()) {
    wait(step_.work());
    const bool equal = step_.all_equal();
    step_.end();
    if (!equal) {
      require_agreement(*comm_, "data_parallel", step_facts());
    }
  }
  if (watch_.change() != Change::none) {
    watch_.accept();
    for (Place& place : places_) {
      place.agreed = place.trained;
    }
  }
}

void GradientReducer::begin_comparison(std::uint64_t fingerprint) {
  if (comm_->size() > 1) {
    update_.begin(*comm_, fingerprint, "optimizer.step(): what it does");
  }
}

void GradientReducer::end_comparison(const std::function<Facts()>& facts) {
  if (!update_.under_way()) {
    return;
  }
  wait(update_.work());
  const bool equal = update_.all_equal();
  update_.end();
  if (!equal) {
    require_agreement(*comm_, "optimizer", facts());
    fail<Disagreement>("optimizer: ranks differ in what they are about to do");
  }
}

}  // namespace tessera::dist
