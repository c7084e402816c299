#include "report.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <tessera/core/base/error.h>

#include "terminal.h"

namespace {

double seconds_since(tessera::Time begin) {
  return std::chrono::duration<double>(tessera::clock().now() - begin).count();
}

std::string json_number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string to_json(const StepReport& r) {
  std::ostringstream line;
  line << "{\"step\": " << r.step << ", \"loss\": " << json_number(r.loss)
       << ", \"lr\": " << json_number(r.lr) << ", \"grad_norm\": " << json_number(r.grad_norm)
       << ", \"tokens_per_second\": " << json_number(r.tokens_per_second)
       << ", \"mfu\": " << json_number(r.mfu) << ", \"step_ms\": " << json_number(r.step_ms)
       << ", \"comm_ms\": " << json_number(r.comm_ms)
       << ", \"comm_exposed_ms\": " << json_number(r.comm_exposed_ms)
       << ", \"memory\": " << r.memory << "}";
  return line.str();
}

std::string to_line(const StepReport& r, std::int64_t steps, double seconds_left) {
  char text[200];
  const auto left = static_cast<int>(seconds_left);
  std::snprintf(text, sizeof text,
                "step %lld/%lld  loss %.4f  %.1fk tokens/s  %.0f%% of peak  "
                "comm %.1f ms exposed  %d:%02d left",
                static_cast<long long>(r.step), static_cast<long long>(steps),
                std::isnan(r.loss) ? NAN : r.loss, r.tokens_per_second / 1e3, r.mfu * 100,
                r.comm_exposed_ms, left / 60, left % 60);
  return text;
}

bool ends_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-1, std::ios::end);
  return file.get() == '\n';
}

}  // namespace

Reporter::Reporter(std::int64_t steps, const std::string& log_path, std::int64_t first_step)
    : steps_(steps),
      first_step_(first_step),
      terminal_(writes_to_terminal()),
      log_path_(log_path),
      begin_(tessera::clock().now()),
      last_line_(begin_ - std::chrono::hours(1)) {
  if (!log_path.empty()) {
    log_.open(log_path, std::ios::app);
    tessera::check<tessera::IoError>(log_.is_open(), "--log: cannot write ", log_path);
    std::error_code no_file;
    if (std::filesystem::file_size(log_path, no_file) > 0 && !no_file) {  // of another run
      // The other run may have died within a line.
      log_ << (ends_line(log_path) ? "" : "\n") << R"({"run_begins_with_step": )" << first_step + 1
           << R"(, "steps": )" << steps << "}" << std::endl;
    }
  }
}

Reporter::~Reporter() {
  end_line();
}

void Reporter::log(const StepReport& report) {
  if (!log_.is_open()) {
    return;
  }
  log_ << to_json(report) << std::endl;  // flushed: a killed run keeps its log
  if (!log_) {
    log_.close();
    note("warning: --log: cannot write " + log_path_ + " any more; it lacks the steps from " +
         std::to_string(report.step) + " on");
  }
}

void Reporter::step(const StepReport& report) {
  log(report);
  const double done = static_cast<double>(report.step - first_step_);
  const double left =
      seconds_since(begin_) / std::max(done, 1.0) * static_cast<double>(steps_ - report.step);
  if (terminal_) {
    std::printf("\r%s\033[K", to_line(report, steps_, left).c_str());
    std::fflush(stdout);
    line_open_ = true;
    return;
  }
  const bool due = seconds_since(last_line_) > 2 || report.step == steps_;
  if (due) {
    std::puts(to_line(report, steps_, left).c_str());
    std::fflush(stdout);
    last_line_ = tessera::clock().now();
  }
}

void Reporter::note(const std::string& text) {
  end_line();
  std::puts(text.c_str());
  std::fflush(stdout);
}

void Reporter::end_line() {
  if (line_open_) {
    std::puts("");
    line_open_ = false;
  }
}
