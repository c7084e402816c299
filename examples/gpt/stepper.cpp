#include "stepper.h"

#include <chrono>
#include <cmath>
#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/device/peak.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/reduce/global_mean.h>
#include <tessera/nn/optim/cosine_schedule.h>

#include "checkpoints.h"
#include "evaluate.h"
#include "non_finite.h"
#include "signals.h"
#include "step_trace.h"

namespace dist = tessera::dist;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// True on all ranks when it is on one.
bool any_rank(dist::Communicator& comm, bool here) {
  std::vector<std::int32_t> flag{here ? 1 : 0};
  dist::all_reduce(comm, std::span(flag), dist::ReduceOp::max, "stop").wait();
  return flag[0] != 0;
}

/// Peak arithmetic of all ranks' threads, in flop/s; 0 when unknown. Looked for once a second,
/// since the machine may be busy with other things now and then.
class Peak {
 public:
  explicit Peak(const Run& run)
      : dtype_(tessera::parse_dtype(run.options.dtype)), ranks_(run.world.size()) {}

  double get(Clock::time_point now) {
    if (now >= next_) {
      flops_ = ranks_ * tessera::peak_flops(dtype_, tessera::num_threads());
      next_ = now + std::chrono::seconds(1);
    }
    return flops_;
  }

 private:
  tessera::DType dtype_;
  int ranks_;
  double flops_ = 0;
  Clock::time_point next_{};
};

StepReport measure(const Run& run, Clock::time_point begin, Peak& peak) {
  StepReport report;
  const auto tokens = static_cast<double>(run.options.batch * run.options.context);
  const auto parameters = static_cast<double>(run.model->parameter_count());
  report.step = run.loader.position();
  report.lr = run.optimizer.lr();
  report.grad_norm = run.optimizer.gradient_norm();
  const auto now = Clock::now();
  report.step_ms = milliseconds(now - begin);
  report.tokens_per_second = tokens / report.step_ms * 1e3;
  const double flops = peak.get(now);
  report.mfu = flops > 0 ? 6 * parameters * report.tokens_per_second / flops : 0;
  if (run.reducer != nullptr) {
    const dist::CommunicationTime time = run.reducer->take_time();
    report.comm_ms = milliseconds(time.total);
    report.comm_exposed_ms = milliseconds(time.exposed);
  }
  report.memory = tessera::memory_stats().peak;
  return report;
}

/// Between two steps: evaluate and save where it is time for it.
void after_step(const Run& run, Reporter* reporter, bool last) {
  const Options& o = run.options;
  const std::int64_t step = run.loader.position();
  const bool due = o.eval_every > 0 && step % o.eval_every == 0;
  if (!o.eval_data.empty() && (due || last)) {
    const double loss = evaluate(run);
    if (reporter != nullptr) {
      reporter->note("step " + std::to_string(step) + "  evaluation loss " + std::to_string(loss));
    }
  }
  if (!o.save.empty() && (last || (o.save_every > 0 && step % o.save_every == 0))) {
    const auto warning = save_step(run, step, last);
    if (warning && reporter != nullptr) {
      reporter->note(*warning);
    }
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
        peak_(run),
        trace_(run.options.trace, run.world) {
    peak_.get(Clock::now());
    begin_ = Clock::now();
  }

  /// After each pass.
  void see(const tessera::data::TokenBatch& batch, const tessera::Tensor& loss) {
    loss_mean_.add(loss);
    non_finite_.see(batch, loss);
  }

  /// After the last pass of a step: updates the weights and does what is due between two steps.
  /// False when training ends.
  bool finish_step() {
    dist::Communicator& comm = *run_.world.communicator();
    run_.optimizer.set_lr(schedule_.rate(run_.loader.position() - 1));
    const auto result = run_.optimizer.step();
    StepReport report = measure(run_, begin_, peak_);
    report.loss = loss_mean_.take(comm);
    if (reporter_ != nullptr) {
      reporter_->step(report);
    }
    if (result.skipped || !std::isfinite(report.loss)) {
      handle_non_finite(non_finite_.explain(run_, report.loss, result.parameter));
    }
    non_finite_.reset();
    trace_.step_done();
    const bool stop = any_rank(comm, stop_requested()) || report.step == run_.options.steps;
    after_step(run_, reporter_.get(), stop);
    begin_ = Clock::now();
    return !stop;
  }

 private:
  /// The optimizer has dropped the gradients; with --nonfinite stop the run ends here.
  void handle_non_finite(const std::string& what) {
    tessera::check<tessera::optim::NonFiniteGradient>(
        run_.options.nonfinite == "skip", what, "; --nonfinite skip goes on without such steps");
    if (reporter_ != nullptr) {
      reporter_->note(what + "; the step is skipped");
    }
  }

  const Run& run_;
  std::unique_ptr<Reporter> reporter_;  ///< on rank 0
  tessera::optim::CosineSchedule schedule_;
  Peak peak_;
  StepTrace trace_;
  NonFiniteSearch non_finite_;
  dist::GlobalMean loss_mean_;
  Clock::time_point begin_;
};

}  // namespace

tessera::Tensor forward(const Run& run, const tessera::data::TokenBatch& batch) {
  const tessera::TraceRange trace("forward", "step");
  const tessera::AutocastScope autocast(tessera::parse_dtype(run.options.dtype));
  return run.model(batch.x, batch.y);
}

void run_steps(const Run& run) {
  if (nothing_left(run)) {
    return;
  }
  Loop loop(run);
  for (const auto& batch : run.loader) {  // once a pass
    const tessera::Tensor loss = forward(run, batch);
    backward(loss);
    loop.see(batch, loss);
    if (tessera::Context::current().pass.last && !loop.finish_step()) {
      break;
    }
  }
}
