#include "step_clock.h"

#include <utility>

#include <tessera/core/device/memory_stats.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/peak.h>

namespace dist = tessera::dist;

namespace {

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

Peak::Peak(const Run& run)
    : dtype_(tessera::parse_dtype(run.options.dtype)), ranks_(run.world.size()) {}

double Peak::get(tessera::Time now) {
  if (now >= next_) {
    flops_ = ranks_ * tessera::peak_flops(dtype_, tessera::num_threads());
    next_ = now + std::chrono::seconds(1);
  }
  return flops_;
}

StepClock::StepClock(const Run& run) : run_(run), peak_(run) {
  peak_.get(tessera::clock().now());
  last_end_ = tessera::clock().now();
  begin();
}

void StepClock::begin() {
  static_cast<void>(take_time());
  begin_ = tessera::clock().now();
}

void StepClock::end(StepReport& report) {
  const tessera::Time now = tessera::clock().now();
  const auto tokens = static_cast<double>(run_.options.batch * run_.options.context);
  const auto parameters = static_cast<double>(run_.model->parameter_count());
  report.step_ms = milliseconds(now - begin_);
  report.tokens_per_second = tokens / milliseconds(now - std::exchange(last_end_, now)) * 1e3;
  const double flops = peak_.get(now);
  report.mfu = flops > 0 ? 6 * parameters * report.tokens_per_second / flops : 0;
  const dist::CommunicationTime time = take_time();
  report.comm_ms = milliseconds(time.total);
  report.comm_exposed_ms = milliseconds(time.exposed);
  report.memory = tessera::memory_stats().peak;
}

/// Since the last call; nothing when alone.
dist::CommunicationTime StepClock::take_time() {
  const auto waited = std::exchange(waited_, {});
  if (run_.reducer == nullptr) {
    return {};
  }
  dist::CommunicationTime time = run_.reducer->take_time();
  time.total += waited;
  time.exposed += waited;
  return time;
}
