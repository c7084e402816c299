// What would make weights depend on how a batch is cut into passes, and is refused therefore.
#include <tessera/nn/data/loader_base.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/slice.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/data/rows.h>

namespace tessera::data {
namespace {

constexpr const char* kPadAlike =
    "padding would depend on the number of ranks; pad all batches to one length, or with "
    "LoaderOptions::at_once = 1 each microbatch to its own";

}  // namespace

/// Two loaders may go in step. A loop of training steps inside another loader's pass runs as often
/// as the rank has passes.
void LoaderBase::check_beside(const Pass& pass) const {
  const Context& context = Context::current();
  if (!options_.counts_steps || context.loop == nullptr) {
    return;
  }
  const Loop& other = runs_now() && loop_->lies_in_outer() ? *loop_->outer : *context.loop;
  if (&other == loop_.get() || !other.pass.training || other.whole) {
    return;
  }
  check(
      !runs_now(),
      "data loader: training steps inside a pass of another loader depend on the number of "
      "ranks; got a pass of ",
      other.pass.count, " of ", other.pass.grain,
      " microbatches, expected all that the rank has: LoaderOptions::at_once = 0, and a number of "
      "ranks that divides the grain");
  check_turns_with(other);
  const Pass& theirs = other.pass;
  check(!loop_->lies_in_outer() || (theirs.grain == pass.grain && theirs.first == pass.first &&
                                    theirs.count == pass.count),
        "data loader: two loaders in one training step have other passes; got microbatches ",
        pass.first, " to ", pass.first + pass.count, " of ", pass.grain, ", expected ",
        theirs.first, " to ", theirs.first + theirs.count, " of ", theirs.grain,
        " as of the other: give both one LoaderOptions::grain and at_once");
}

/// Loaders in one step move on together, each before the first backward of the pass: where one does
/// behind a backward of the other's pass, the passes of two steps alternate.
void LoaderBase::check_turns_with(const Loop& other) const {
  const bool together = loop_->mark != nullptr && loop_->pass.first == other.pass.first &&
                        loop_->pass.count == other.pass.count;
  check(together || backwards_in_pass() == 0,
        "data loader: moved on behind a backward in a pass of another loader, which depends on the "
        "number of ranks; got a pass of ",
        other.pass.count, " of ", other.pass.grain,
        " microbatches, expected all that the rank has, by LoaderOptions::at_once = 0 and a number "
        "of ranks that divides the grain, or both loaders moved on before the first backward");
}

/// True while the pass under way is this loader's latest.
bool LoaderBase::runs_now() const {
  const auto& mark = Context::current().pass_mark;
  return mark != nullptr && loop_ != nullptr && mark == loop_->mark;
}

void LoaderBase::check_turn() const {
  const Pass& now = Context::current().pass;
  if (!options_.counts_steps || !now.training || runs_now()) {
    return;
  }
  const MicrobatchRange& own = passes_[latest_];
  check(now.grain == options_.grain && now.first == own.first && now.count == own.count,
        "data loader: the pass under way is another loader's, microbatches ", now.first, " to ",
        now.first + now.count, " of ", now.grain, "; got the batch of ", own.first, " to ",
        own.first + own.count, " of ", options_.grain,
        ": move loaders that train in one step on together, with one LoaderOptions::grain and "
        "at_once");
}

/// True where this loader's next batch ends the step: of several loaders in it the first that moves
/// on does, whichever moved on last before.
bool LoaderBase::ends_pass_under_way() const {
  const Pass& now = Context::current().pass;
  const bool beside = loop_ != nullptr && loop_->mark != nullptr && now.training &&
                      Context::current().pass_mark != nullptr && loop_->pass.grain == now.grain &&
                      loop_->pass.first == now.first && loop_->pass.count == now.count;
  return options_.counts_steps && (runs_now() || beside);
}

void LoaderBase::end_pass() {
  in_body_ = false;
  if (Context::current().pass.last && ends_pass_under_way()) {
    nn::end_step_of_buffers(nullptr);
    if (!has_pass()) {
      nn::end_loop_of_buffers();
    }
  }
  if (!has_pass()) {
    check_backwards();
  }
}

/// True in a pass that is not the last, or before its backward.
bool LoaderBase::leaves_step() const {
  const std::size_t backwards = backwards_in_pass();
  const bool missing = latest_ == 0 ? backwards == 0 : backwards != backwards_.value_or(backwards);
  return in_body_ && (latest_ + 1 < passes_.size() || missing || std::uncaught_exceptions() > 0);
}

void LoaderBase::end_loop() noexcept {
  const bool trains = options_.counts_steps && passes_.size() > 1 && runs_now();
  left_ = trains && leaves_step();
  if (trains && latest_ == 0) {
    backwards_ = backwards_in_pass();
  }
}

/// One that nothing was trained in yet may be left, to look at a batch say, but not be gone on
/// with.
void LoaderBase::check_step_is_done() const {
  const bool begun = latest_ > 0 || backwards_.value_or(0) > 0;
  check<RuntimeError>(!left_ || !begun || std::uncaught_exceptions() > 0,
                      "data loader: a loop is left in pass ", latest_, " of ", passes_.size(),
                      " of a training step, which stays undone; leave loops by "
                      "`if (optimizer.step().ended)`");
}

/// Before the next pass: a pass without the others' backwards would count as zeros in their sums.
void LoaderBase::check_backwards() {
  if (!options_.counts_steps || !runs_now()) {
    return;
  }
  const std::size_t backwards = backwards_in_pass();
  if (latest_ == 0) {
    backwards_ = backwards;
  }
  const std::size_t expected = backwards_.value_or(backwards);
  check(backwards == expected, "data loader: the passes of a step ran other numbers of backward; ",
        "got ", backwards, " in pass ", latest_, ", expected ", expected,
        " as in pass 0: a pass holds a part of the step, which is skipped or made as a whole");
}

PassPlan LoaderBase::microbatch_of(const PassPlan& pass, std::int64_t index) {
  const std::int64_t each = pass.samples / pass.microbatches.count;
  PassPlan one = pass;
  one.microbatches = {.first = pass.microbatches.first + index, .count = 1};
  one.first_sample += index * each;
  one.first_place += index * each;
  one.samples = each;
  return one;
}

void LoaderBase::check_alike(const PassPlan& pass, std::int64_t index,
                             const std::vector<Tensor>& of_pass, const std::vector<Tensor>& alone) {
  const std::int64_t each = pass.samples / pass.microbatches.count;
  for (std::size_t i = 0; i < std::min(of_pass.size(), alone.size()); ++i) {
    const Tensor& all = of_pass[i];
    const bool comparable = all.ndim() > 0 && all.size(0) == pass.samples && alone[i].ndim() > 0 &&
                            alone[i].size(0) == each &&
                            size_of_sample(all) == size_of_sample(alone[i]);
    check(
        !comparable ||
            hash_tensor(slice(all, 0, index * each, (index + 1) * each)) == hash_tensor(alone[i]),
        "data loader: what is made of a sample depends on others of its pass; got other values in "
        "microbatch ",
        pass.microbatches.first + index,
        " than its samples alone give, expected the same, or weights depend on the number of "
        "ranks; with LoaderOptions::at_once = 1 one microbatch is collated at a time");
  }
}

/// What samples are padded to must not depend on which of them share a pass. Where every pass of a
/// batch, on all ranks, has the size that the longest of the batch's samples needs, it does not.
void LoaderBase::check_sizes(const PassPlan& now, std::vector<Shape> sizes) {
  if (options_.at_once == 1 || options_.grain == 1 || !options_.counts_steps) {
    return;
  }
  if (now.index == 0) {
    sizes_ = std::move(sizes);
    return;
  }
  const auto [size, first] = std::ranges::mismatch(sizes, sizes_);
  if (size != sizes.end() && first != sizes_.end()) {
    drop_pending();  // the next loop begins with this pass again
    fail<InvalidArgument>("data loader: the passes of a batch hold samples of other sizes; got ",
                          *size, " in pass ", now.index, ", expected ", *first,
                          " as in pass 0: ", kPadAlike);
  }
}

}  // namespace tessera::data
