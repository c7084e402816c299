#include <tessera/dist/shutdown_barrier.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include <tessera/core/base/error.h>
#include <tessera/core/base/launch_environment.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/heartbeats.h>
#include <tessera/dist/comm/signature.h>
#include <tessera/dist/comm/split_group.h>
#include <tessera/dist/comm/watch.h>
#include <tessera/dist/process_watchdog.h>

namespace tessera::dist {
namespace {

/// The ranks that have, or have not, come to their end.
std::vector<int> ranks_at_end(const HeartbeatTable& table, bool there) {
  std::vector<int> ranks;
  for (int rank = 0; rank < table.size(); ++rank) {
    const HeartbeatCell& cell = table.cell(rank);
    if ((cell.left > 0 || cell.ended > 0) == there) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

/// Says for whom the ranks at the end wait; the first of them does.
void remind(Communicator& comm, Duration waited) {
  const auto table = comm.heartbeat_table();
  const std::vector<int> late = ranks_at_end(*table, false);
  if (late.empty() || ranks_at_end(*table, true).front() != comm.rank()) {
    return;
  }
  std::string text;
  for (const int rank : late) {
    const HeartbeatCell& cell = table->cell(rank);
    text += detail::concat(text.empty() ? "rank " : "; rank ", rank, " (host ", comm.host(rank),
                           ", ", describe_position(cell),
                           cell.busy > 0 ? ", busy: " + cell.activity.load() : "", ")");
  }
  log_warning("has waited ", std::chrono::round<std::chrono::seconds>(waited).count(),
              " s at the end of the program for ", text, ", as long as it shows signs of life");
}

/// Finds a rank that has been silent for too long.
class SilenceFinder {
 public:
  SilenceFinder(std::shared_ptr<HeartbeatTable> table, std::chrono::milliseconds deadline)
      : table_(std::move(table)), deadline_(deadline), heartbeats_(*table_) {}

  std::optional<int> look(Time now) {
    if (last_ != Time{} && now - last_ > deadline_ / 2) {
      heartbeats_.forgive(now);  // this very process stood still
    }
    last_ = now;
    heartbeats_.listen(now);
    for (int rank = 0; rank < table_->size(); ++rank) {
      if (table_->cell(rank).left == 0 && heartbeats_.silence(rank, now) > deadline_) {
        return rank;
      }
    }
    return std::nullopt;
  }

 private:
  std::shared_ptr<HeartbeatTable> table_;
  std::chrono::milliseconds deadline_;
  Heartbeats heartbeats_;
  Time last_{};
};

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

/// "rank 1 (process 4711)", and so on: processes that the launcher of this one started too and that
/// are stopped, as by SIGSTOP or a debugger. Empty when there are none, or when this system does
/// not say.
std::string stopped_ranks_here() {
  std::string text;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") == std::string::npos &&
        is_stopped_child(read_whole(entry.path() / "stat"), getppid())) {
      text.append(text.empty() ? "rank " : ", rank ");
      text.append(rank_of(read_whole(entry.path() / "environ")));
      text.append(" (process ").append(number).append(")");
    }
  }
  return text;
}

}  // namespace

void wait_for_all(Communicator& comm, std::chrono::milliseconds deadline) {
  const auto table = comm.heartbeat_table();
  std::optional<int> silent;
  table->own().ended = 1;
  SilenceFinder finder(table, deadline);
  Reminder reminder;
  const Time begin = clock().now();
  const ProcessWatchdog guard(
      [&] {
        const Time now = clock().now();
        if (reminder.due(now - begin)) {
          remind(comm, now - begin);
        }
        return deadline.count() > 0 && (silent = finder.look(now));
      },
      1,
      [&] {
        return detail::concat("world: rank ", comm.rank(), " waited ",
                              std::chrono::duration<double>(deadline).count(),
                              " s at the end; rank ", *silent, " (host ", comm.host(*silent),
                              ") shows no sign of life");
      });
  try {
    barrier(comm, kLeave).wait();
  } catch (const Error&) {  // see say_failure
  }
}

void say_failure(Communicator& comm, const std::string& program, const std::string& text) {
  const auto table = comm.heartbeat_table();
  if (table == nullptr || !table->failure().written()) {
    return;
  }
  FailureRecord& failure = table->failure();
  const bool here = comm.host(failure.rank) == comm.host(comm.rank());
  if (here && failure.printed.exchange(1) == 0) {
    std::cerr << detail::concat(comm.size() > 1 ? detail::concat("[rank ", failure.rank, "] ") : "",
                                program, program.empty() ? "" : ": ",
                                text.empty() ? std::string(failure.text) : text, "\n")
              << std::flush;
  }
}

std::string waiting_text(const std::string& what, std::chrono::milliseconds time) {
  const std::string stopped = stopped_ranks_here();
  return detail::concat(
      "world: rank ", launch_environment().rank, " (host ", host_name(), ") waited ",
      std::chrono::duration<double>(time).count(), " s for the other ranks ", what,
      stopped.empty() ? "; start them together, or raise the timeout" : "; stopped: " + stopped);
}

}  // namespace tessera::dist
