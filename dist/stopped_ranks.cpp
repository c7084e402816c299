#include <tessera/dist/stopped_ranks.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tessera::dist {
namespace {

namespace fs = std::filesystem;

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether /proc/PID/stat, "pid (name) state parent ...", is of a stopped child of `parent`.
bool is_stopped_child(const std::string& stat, pid_t parent) {
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 5) {
    return false;
  }
  const char state = stat[name_end + 2];
  const bool stopped = state == 'T' || state == 't';
  return stopped && std::atol(stat.c_str() + name_end + 4) == parent;
}

/// The rank that Open MPI's mpirun, or srun, gave a process.
std::string rank_of(const std::string& environment) {
  for (const std::string name : {"OMPI_COMM_WORLD_RANK=", "PMIX_RANK="}) {
    const std::size_t at = ('\0' + environment).find('\0' + name);
    if (at != std::string::npos) {
      return environment.c_str() + at + name.size();
    }
  }
  return "?";
}

}  // namespace

std::string stopped_ranks_here() {
  std::string text;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string process = entry.path().filename();
    if (process.find_first_not_of("0123456789") == std::string::npos &&
        is_stopped_child(read_whole(entry.path() / "stat"), getppid())) {
      text.append(text.empty() ? "rank " : ", rank ");
      text.append(rank_of(read_whole(entry.path() / "environ")));
      text.append(" (process ").append(process).append(")");
    }
  }
  return text;
}

}  // namespace tessera::dist
