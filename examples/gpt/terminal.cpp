#include "terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

/// Name and parent of a process, from /proc/PID/stat: "pid (name) state parent ...".
struct Process {
  std::string name;
  pid_t parent = 0;
};

Process look_at(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t begin = line.find('(');
  const std::size_t end = line.rfind(')');
  Process process;
  if (begin != std::string::npos && end != std::string::npos) {
    process.name = line.substr(begin + 1, end - begin - 1);
    std::istringstream rest(line.substr(end + 1));
    std::string state;
    rest >> state >> process.parent;
  }
  return process;
}

bool is_mpirun(const std::string& name) {
  constexpr std::array kNames{"mpirun", "mpiexec", "orterun", "prterun"};
  for (const char* known : kNames) {
    if (name == known) {
      return true;
    }
  }
  return false;
}

/// The mpirun above this process; 0 if there is none on this host.
pid_t find_mpirun() {
  pid_t pid = getppid();
  while (pid > 1) {
    const Process process = look_at(pid);
    if (is_mpirun(process.name)) {
      return pid;
    }
    pid = process.parent;
  }
  return 0;
}

bool output_is_terminal(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/1";
  const int output = open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  const bool terminal = output >= 0 && isatty(output) != 0;
  if (output >= 0) {
    close(output);
  }
  return terminal;
}

}  // namespace

bool writes_to_terminal() {
  if (isatty(STDOUT_FILENO) == 0) {
    return false;
  }
  const bool launched =
      std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  if (!launched) {
    return true;
  }
  const pid_t mpirun = find_mpirun();
  return mpirun != 0 && output_is_terminal(mpirun);
}
