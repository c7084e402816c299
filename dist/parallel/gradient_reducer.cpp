#include <tessera/dist/parallel/gradient_reducer.h>

#include <algorithm>
#include <utility>

#include <tessera/core/autograd/accumulation.h>
#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/loop.h>
#include <tessera/dist/parallel/finish_gradients.h>
#include <tessera/dist/parallel/sparse_exchange.h>
#include <tessera/dist/parallel/used_parameters.h>

namespace tessera::dist {
namespace {

std::uint64_t next_number() {
  thread_local std::uint64_t last = 0;
  return ++last;
}

}  // namespace

GradientReducer::GradientReducer(nn::Module& model, std::shared_ptr<Communicator> comm,
                                 const DataParallelOptions& options,
                                 const MakeStrategy& make_strategy)
    : number_(next_number()),
      comm_(std::move(comm)),
      blocks_(options.grain, comm_->size(), comm_->rank()),
      watched_(model),
      ownership_(comm_, watched_, waits_),
      strategy_(make_strategy(comm_, ownership_)),
      model_(*this, *comm_, blocks_, watched_, ownership_, options.buckets),
      order_(model_.parameters(), ownership_.buckets(), model_.gradients(), *strategy_,
             ownership_.host().size() < comm_->size()),
      agreement_(*comm_, watched_, waits_),
      loss_counts_(*comm_, options.grain),
      listener_(at_begin_of_backward([this] { model_.look(); })) {}

void GradientReducer::begin_backward() {
  if (backward_ == current_backward()) {
    return;
  }
  PassSequence passes = passes_;
  const bool first = passes.enter() == PassSequence::Entered::first;
  if (first && completed_ && evaluates_in_step()) {
    check_drops_no_pass();
  }
  backward_ = current_backward();
  passes_ = std::move(passes);
  trains_in_.reset();
  if (const Context& context = Context::current(); context.pass.training) {
    trains_in_ = context.loop;
  }
  const bool failed = !std::exchange(completed_, false);
  const auto self = shared_from_this();  // a hook may let go of it
  when_backward_is_over([self] { self->settle_gradients(); },
                        [self] { self->restore_gradients(); });
  if (first || failed) {
    forget_step();
  }
  check_no_pass_is_lost();
  agree();
  for (ReducedParameter& parameter : model_.parameters()) {
    // A second backward before the optimizer's step.
    if (order_.overwrites(parameter)) {
      keep_gradient(parameter);
    }
  }
  if (Context::current().pass.last) {
    begin_last_pass();
  }
}

bool GradientReducer::is_in_step() {
  PassSequence passes = passes_;
  return passes.enter() != PassSequence::Entered::first &&
         std::ranges::any_of(model_.parameters(), [](const auto& p) { return p.sums.has_any(); });
}

/// Whether the backward that begins is of an evaluation in a pass of the training step that the
/// latest one was of.
bool GradientReducer::evaluates_in_step() const {
  const Context& context = Context::current();
  const Loop* training =
      context.pass.training || context.loop == nullptr ? nullptr : context.loop->training_around();
  return training != nullptr && training == trains_in_.lock().get() &&
         training->step == passes_.step();
}

/// A step of its own begins in the midst of another one.
void GradientReducer::check_drops_no_pass() {
  const bool repeated = Context::current().loop->is_repeated();
  for (const ReducedParameter& parameter : model_.parameters()) {
    check<Unsupported>(!parameter.sums.has_any(),
                       "data_parallel: the backward of an evaluation inside a training step",
                       repeated ? ", once in each of the step's passes," : "",
                       " would drop what earlier passes brought to ", parameter.name,
                       "; evaluate behind this model's backward in the step's last pass, or take "
                       "gradients by grad()");
  }
}

/// What is left is of a step whose loop was left, or of a backward that threw.
void GradientReducer::forget_step() {
  for (ReducedParameter& parameter : model_.parameters()) {
    parameter.sums.forget();
  }
  loss_counts_.forget_step();
  agreement_.forget_step();
}

/// Backward threw, here or at the end of another model's part: gradients are what they were before.
void GradientReducer::restore_gradients() noexcept {
  for (ReducedParameter& parameter : model_.parameters()) {
    try {
      restore_gradient(parameter);
    } catch (...) {  // what backward threw says more
    }
  }
}

void GradientReducer::settle_gradients() noexcept {
  completed_ = true;
  std::ranges::for_each(model_.parameters(), settle_gradient);
}

/// See Note [What may change]. Before the last pass a rank asks only where it cannot go on without
/// an answer: ranks of one pass come to the next model's question after this one's buckets, so
/// those of several may not ask it before.
void GradientReducer::agree() {
  model_.forget_retired();
  const bool moves = model_.has_newcomers();
  if (moves) {
    agreement_.check_between_steps(model_.parameters());
  } else {
    model_.follow_trained();
  }
  const bool at_once = moves || !blocks_.hold_pass();
  if (at_once || Context::current().pass.last) {
    agreement_.begin();
    const bool waits = at_once || watched_.change() == WatchedModel::Change::trained;
    if (waits && !agreement_.holds()) {
      abandon();
    }
  }
  if (moves) {
    model_.follow(*watched_.model());
  }
  agreement_.check_trained_alike(model_.parameters());
}

void GradientReducer::begin_last_pass() {
  for (ReducedParameter& parameter : model_.parameters()) {
    parameter.reached = parameter.complete = parameter.early = false;
    if (!parameter.trained && order_.overwrites(parameter)) {
      parameter.sums.void_memory();
    }
  }
  order_.begin();
  at_end_of_backward([self = shared_from_this()] { self->end_backward(); });
}

/// Only while no collective can be using the memory, no backward wants it, and it holds nothing.
Tensor GradientReducer::early_destination(std::size_t index) {
  ReducedParameter& parameter = model_.parameters()[index];
  const bool in_use = current_backward() != 0 || parameter.value.grad().defined();
  return in_use ? Tensor() : parameter.sums.early_destination();
}

Tensor GradientReducer::destination(std::size_t index) {
  return model_.parameters()[index].sums.destination();
}

void GradientReducer::take_dense(std::size_t index, Tensor dense) {
  ReducedParameter& parameter = model_.parameters()[index];
  parameter.sums.add(std::move(dense));
  if (Context::current().pass.last) {
    parameter.early = !order_.is_late();
    settle(parameter);
    order_.launch_ready();
  }
}

void GradientReducer::complete(std::size_t index, SparseGradient rows) {
  ReducedParameter& parameter = model_.parameters()[index];
  parameter.early = parameter.early && rows.defined();
  if (rows.defined()) {
    parameter.sums.add(std::move(rows));
  }
  if (Context::current().pass.last) {
    parameter.reached = true;
    settle(parameter);
    order_.launch_ready();
  }
}

void GradientReducer::settle(ReducedParameter& parameter) {
  if (!parameter.complete) {
    parameter.sums.settle();
    order_.complete(parameter);
  }
}

/// The ranks differ, and this one cannot go on: the others get what they wait for, zeros, and find
/// out when their backward ends.
void GradientReducer::abandon() {
  model_.restore_agreed();
  for (ReducedParameter& parameter : model_.parameters()) {
    if (order_.overwrites(parameter)) {
      keep_gradient(parameter);
    }
    parameter.reached = parameter.complete = parameter.early = false;
  }
  order_.begin();
  end_backward();
  fail<Disagreement>("data_parallel: ranks differ in what they train");
}

/// A rank that waits for what another should tell first finds out whether that one goes on.
double GradientReducer::take_counts(const PassCounts& counts) {
  begin_backward();
  if (!loss_counts_.has_agreed() && !agreement_.holds()) {
    abandon();
  }
  return loss_counts_.add(counts);
}

void GradientReducer::end_backward() {
  for (ReducedParameter& parameter : model_.parameters()) {
    if (parameter.trained) {
      settle(parameter);
    }
  }
  order_.launch_ready();
  UsedParameters table(*comm_, model_.parameters(), loss_counts_);
  wait_for_launched();
  waits_.wait(table.work());
  const GradientScale scale = table.take_counts(loss_counts_);
  if (agreement_.require()) {
    model_.accept_trained();
  }
  order_.launch_left_out(table);
  wait_for_launched();
  order_.learn(table, comm_->size());
  add_sparse(table);
  finish_gradients(model_.parameters(), table, scale);
}

void GradientReducer::wait_for_launched() {
  for (const Work& work : order_.launched()) {
    waits_.wait(work);
  }
  order_.forget_launched();
}

void GradientReducer::add_sparse(const UsedParameters& table) {
  for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
    const RowCounts counts = table.by_rank(i, UsedParameters::rows);
    if (std::ranges::max(counts) > 0) {
      const ReducedParameter& parameter = model_.parameters()[i];
      add_sparse_of_ranks(*comm_, blocks_, parameter.sums.sparse(), counts, parameter.gradient(),
                          parameter.value, parameter.name);
    }
  }
}

}  // namespace tessera::dist
