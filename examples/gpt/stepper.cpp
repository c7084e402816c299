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

/// The optimizer has dropped the gradients; with --nonfinite stop the run ends here.
void handle_non_finite(const Options& o, const std::string& what, Reporter* reporter) {
  tessera::check<tessera::optim::NonFiniteGradient>(
      o.nonfinite == "skip", what, "; --nonfinite skip goes on without such steps");
  if (reporter != nullptr) {
    reporter->note(what + "; the step is skipped");
  }
}

}  // namespace

tessera::Tensor forward(const Run& run, const tessera::data::Batch& batch) {
  const tessera::TraceRange trace("forward", "step");
  const tessera::AutocastScope autocast(tessera::parse_dtype(run.options.dtype));
  return run.model(batch.x, batch.y);
}

void run_steps(const Run& run) {
  const Options& o = run.options;
  dist::Communicator& comm = *run.world.communicator();
  if (run.loader.position() >= o.steps) {
    if (run.world.rank() == 0) {
      tessera::log_info("step ", run.loader.position(), " is done, --steps asks for ", o.steps,
                        ": nothing to train");
    }
    return;
  }
  const auto reporter = run.world.rank() == 0
                            ? std::make_unique<Reporter>(o.steps, o.log, run.loader.position())
                            : nullptr;
  const tessera::optim::CosineSchedule schedule(
      {.lr = o.lr, .min_lr = o.min_lr, .warmup = o.warmup, .steps = o.steps});
  Peak peak(run);
  peak.get(Clock::now());
  StepTrace trace(o.trace, run.world);
  NonFiniteSearch non_finite;
  dist::GlobalMean loss_mean;
  auto begin = Clock::now();
  for (const auto& batch : run.loader) {  // once a pass
    const tessera::Tensor loss = forward(run, batch);
    backward(loss);
    loss_mean.add(loss);
    non_finite.see(batch, loss);
    if (!tessera::Context::current().pass.last) {
      continue;
    }
    run.optimizer.set_lr(schedule.rate(run.loader.position() - 1));
    const auto result = run.optimizer.step();
    StepReport report = measure(run, begin, peak);
    report.loss = loss_mean.take(comm);
    if (reporter != nullptr) {
      reporter->step(report);
    }
    if (result.skipped || !std::isfinite(report.loss)) {
      handle_non_finite(o, non_finite.explain(run, report.loss, result.parameter), reporter.get());
    }
    non_finite.reset();
    trace.step_done();
    const bool stop = any_rank(comm, stop_requested());
    after_step(run, reporter.get(), stop || report.step == o.steps);
    if (stop) {
      break;
    }
    begin = Clock::now();
  }
}
