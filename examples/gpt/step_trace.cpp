#include "step_trace.h"

#include <filesystem>
#include <fstream>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>

namespace {

constexpr std::int64_t kSteps = 20;  // enough to see, and little to keep in memory

std::string path_of_rank(const std::string& path, int rank) {
  if (rank == 0) {
    return path;
  }
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += ".rank" + std::to_string(rank);
  name += whole.extension();
  return whole.parent_path() / name;
}

}  // namespace

StepTrace::StepTrace(const std::string& path, const tessera::dist::World& world) {
  if (path.empty()) {
    return;
  }
  const std::string own = path_of_rank(path, world.rank());
  tessera::check<tessera::IoError>(std::ofstream(own).is_open(), "--trace: cannot write ", own);
  tessera::name_this_thread("main");
  tessera::start_trace(own);
  steps_left_ = kSteps;
}

StepTrace::~StepTrace() {
  write();
}

void StepTrace::step_done() {
  if (steps_left_ == 1) {
    write();
  } else if (steps_left_ > 1) {
    --steps_left_;
  }
}

void StepTrace::write() {
  if (steps_left_ == 0) {
    return;
  }
  steps_left_ = 0;
  try {
    tessera::stop_trace();
  } catch (const tessera::Error& error) {
    tessera::log_warning("--trace: ", error.what());
  }
}
