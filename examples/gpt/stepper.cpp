#include "stepper.h"

#include <cmath>
#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/dist/reduce/global_mean.h>
#include <tessera/nn/optim/cosine_schedule.h>

#include "checkpoints.h"
#include "evaluate.h"
#include "non_finite.h"
#include "signals.h"
#include "step_clock.h"
#include "step_trace.h"

namespace dist = tessera::dist;
namespace optim = tessera::optim;

namespace {

void save(const Run& run, Reporter* reporter, bool last) {
  const auto warning = save_step(run, run.loader.position(), last);
  if (warning && reporter != nullptr) {
    reporter->note(*warning);
  }
}

void report_evaluation(const Run& run, Reporter* reporter) {
  const double loss = evaluate(run);
  if (reporter != nullptr) {
    reporter->note("step " + std::to_string(run.loader.position()) + "  evaluation loss " +
                   std::to_string(loss));
  }
}

/// Between two steps: saves and evaluates where it is time for it. Whoever asked for a stop waits
/// for no evaluation.
void after_step(const Run& run, Reporter* reporter, bool stopped) {
  const Options& o = run.options;
  const std::int64_t step = run.loader.position();
  const bool ended = step == o.steps;
  const auto due = [step](std::int64_t every) { return every > 0 && step % every == 0; };
  if (!o.save.empty() && (stopped || ended || due(o.save_every))) {
    save(run, reporter, stopped || ended);
  }
  if (!o.eval_data.empty() && !stopped && (ended || due(o.eval_every))) {
    report_evaluation(run, reporter);
  }
}

void backward(const tessera::Tensor& loss) {
  const tessera::TraceRange trace("backward", "step");
  loss.backward();
}

/// True, and said, when the run is already as long as --steps asks.
bool nothing_left(const Run& run) {
  const std::int64_t done = run.loader.position();
  if (done >= run.options.steps && run.world.rank() == 0) {
    tessera::log_info("step ", done, " is done, --steps asks for ", run.options.steps,
                      ": nothing to train");
  }
  return done >= run.options.steps;
}

/// What goes on around forward and backward.
class Loop {
 public:
  explicit Loop(const Run& run)
      : run_(run),
        reporter_(run.world.rank() == 0
                      ? std::make_unique<Reporter>(run.options.steps, run.options.log,
                                                   run.loader.position())
                      : nullptr),
        schedule_({.lr = run.options.lr,
                   .min_lr = run.options.min_lr,
                   .warmup = run.options.warmup,
                   .steps = run.options.steps}),
        trace_(run.options.trace, run.world),
        clock_(run) {}

  /// After each pass.
  void see(const tessera::data::TokenBatch& batch, const tessera::Tensor& loss) {
    loss_mean_.add(loss);
    non_finite_.see(batch, loss);
  }

  /// After the last pass of a step: updates the weights and does what is due between two steps.
  void finish_step() {
    dist::Communicator& comm = *run_.world.communicator();
    StepReport report{.step = run_.loader.position()};
    report.loss = clock_.waiting([&] { return loss_mean_.take(comm); });
    const optim::StepResult result = update(report);
    stopped_ = clock_.waiting([&] { return stop_requested(comm); });
    clock_.end(report);
    if (reporter_ != nullptr) {
      reporter_->step(report);
    }
    if (result.skipped) {
      handle_non_finite(non_finite_.explain(run_, report.loss, result.parameter));
    }
    non_finite_.reset();
    trace_.step_done();
    after_step(run_, reporter_.get(), stopped_);
    clock_.begin();
  }

  /// Whether a signal has asked for the end.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  /// Updates the weights. Gradients may be finite though the loss is not: they are dropped.
  optim::StepResult update(StepReport& report) {
    run_.optimizer.set_lr(schedule_.rate(report.step - 1));
    report.lr = run_.optimizer.lr();
    if (!std::isfinite(report.loss)) {
      run_.optimizer.zero_grad();
      report.grad_norm = std::nan("");
      return {.ended = true, .skipped = true, .reason = "", .parameter = ""};
    }
    const optim::StepResult result = run_.optimizer.step();
    report.grad_norm = result.gradient_norm;
    return result;
  }

  /// The optimizer has dropped the gradients; with --nonfinite stop the run ends here.
  void handle_non_finite(const std::string& what) {
    tessera::check<optim::NonFiniteGradient>(run_.options.nonfinite == "skip", what,
                                             "; --nonfinite skip goes on without such steps");
    if (reporter_ != nullptr) {
      reporter_->note(what + "; the step is skipped");
    }
  }

  const Run& run_;
  std::unique_ptr<Reporter> reporter_;  ///< on rank 0
  optim::CosineSchedule schedule_;
  StepTrace trace_;
  NonFiniteSearch non_finite_;
  dist::GlobalMean loss_mean_;
  StepClock clock_;
  bool stopped_ = false;
};

}  // namespace

tessera::Tensor forward(const Run& run, const tessera::data::TokenBatch& batch) {
  const tessera::TraceRange trace("forward", "step");
  const tessera::AutocastScope autocast(tessera::parse_dtype(run.options.dtype));
  return run.model(batch.x, batch.y);
}

bool run_steps(const Run& run) {
  if (nothing_left(run)) {
    return true;
  }
  Loop loop(run);
  for (const auto& batch : run.loader) {  // once a pass
    const tessera::Tensor loss = forward(run, batch);
    backward(loss);
    loop.see(batch, loss);
    if (tessera::Context::current().pass.last) {
      loop.finish_step();
    }
    if (loop.stopped()) {
      break;
    }
  }
  return !loop.stopped();
}
