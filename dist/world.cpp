#include <tessera/dist/world.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/launch_environment.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/settings.h>
#include <tessera/core/base/settings_check.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/dist/comm/backend.h>
#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/recorder.h>
#include <tessera/dist/comm/watch.h>
#include <tessera/dist/comm/watchdog.h>
#include <tessera/dist/common_numerics.h>
#include <tessera/dist/cores.h>
#include <tessera/dist/fatal_signals.h>
#include <tessera/dist/process_watchdog.h>
#include <tessera/dist/shutdown_barrier.h>
#include <tessera/dist/transports.h>
#include <tessera/dist/unexpected_end.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

const Setting<int> recorded{"TESSERA_COMM_RECORD", 0,
                            "Collectives that a rank remembers, and prints when it fails"};

constexpr std::chrono::milliseconds kStart = 5000ms;  // for MPI to start, at least
// After a failure:
constexpr auto kNotice = 400ms;       // for the others to notice it and end by themselves
constexpr auto kPatience = 1000ms;    // for the rank that failed to end the rest
constexpr auto kLastMoment = 1500ms;  // then a rank ends itself, whatever it is stuck in
constexpr auto kLeaving = 600ms;      // for MPI to let go of a rank that has ended

Backend* choose_backend(const std::string& wanted) {
  if (wanted == "loopback") {
    return nullptr;
  }
  if (wanted != "auto") {
    Backend* backend = find_backend(wanted);
    check<Unsupported>(backend != nullptr, "world: this build has no such backend; got ", wanted,
                       ", expected auto or loopback",
                       all_backends().empty() ? "" : " or " + all_backends().front()->name());
    return backend;
  }
  for (Backend* backend : all_backends()) {
    if (backend->launched()) {
      return backend;
    }
  }
  return nullptr;
}

/// Throws InvalidArgument, naming both numbers and the right command, when more ranks were
/// announced than `delivered`. `has_transport`: this build could have formed a larger world.
void require_delivered(const LaunchEnvironment& announced, int delivered, bool has_transport) {
  const bool by_srun = announced.launcher.find("srun") != std::string::npos;
  check(announced.ranks <= delivered, "world: ", announced.launcher, " announces ", announced.ranks,
        " ranks (", announced.variable, "=", announced.ranks, ") but ", delivered,
        delivered == 1 ? " was" : " were", " formed; ",
        has_transport ? "start it with the mpirun of the MPI that Tessera was built with"
                      : "build Tessera with -DTESSERA_WITH_MPI=ON and start it with MPI's mpirun",
        ": mpirun -n ", announced.ranks, " --bind-to none PROGRAM",
        by_srun ? " (or srun --mpi=pmix PROGRAM)" : "");
}

std::chrono::milliseconds round_seconds(Duration time) {
  return std::chrono::round<std::chrono::seconds>(time);
}

/// `limit` of rank 0; the next ones wait a little longer, since its end is theirs and its text says
/// what theirs would. Zero, for ever, is the same for all.
std::chrono::milliseconds turn_to_speak(std::chrono::milliseconds limit, int rank) {
  constexpr auto kTurn = 2000ms;  // for the launcher to end the others
  constexpr int kTurns = 3;
  return limit.count() > 0 ? limit + kTurn * std::min(rank, kTurns) : limit;
}

bool is_local(const Communicator& comm, int peer) {
  const std::string transport = comm.transport(peer);
  return transport == "self" || transport == "shm" || transport == "thread";
}

void introduce(Communicator& comm, bool independent) {
  Context& context = Context::current();
  context.rank = independent ? 0 : comm.rank();
  context.world_size = independent ? 1 : comm.size();
  context.log_prefix = comm.size() > 1 ? tessera::detail::concat("[rank ", comm.rank(), "] ") : "";
  if (comm.size() > 1) {
    const std::string transports = describe_transports(comm);
    if (comm.rank() == 0) {
      log_info("world of ", comm.size(), " ranks: ", transports);
    }
  }
}

}  // namespace

struct World::State {
  Backend* backend = nullptr;
  std::shared_ptr<Communicator> unwatched;
  std::shared_ptr<Communicator> comm;
  std::shared_ptr<Recorder> recorder;  ///< null where nothing is recorded
  std::chrono::milliseconds timeout{0};
  std::unique_ptr<ProcessWatchdog> sentry;  ///< while `run` is under way
  int local_rank = 0;
  int local_size = 0;
  int exit_code = 1;
  bool pinned = false;
  bool gone = false;  ///< has left, or is being ended
  std::optional<UnexpectedEnd> unexpected_end;
  std::atomic<bool> ending{false};  ///< by an exception that nobody caught, perhaps of a thread
  std::unique_ptr<FatalSignals> fatal_signals;  ///< null where no launcher started the process
  std::string host;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { leave(); }

  /// Waits for the others and lets go of them. Once: afterwards it does nothing. exit() destroys no
  /// local variable, so that a model may still hold the communicator, and nobody will use it.
  void leave(bool exits = false) {
    while (ending) {  // another thread's exception ends the process, and reads what is here
      clock().sleep_for(10ms);
    }
    if (std::exchange(gone, true)) {
      return;
    }
    unexpected_end.reset();
    if (comm != nullptr && comm->size() > 1 && !failed()) {
      wait_for_all(*unwatched, timeout);
      say_failure(*comm);
    }
    const bool in_good_order = !failed();
    sentry.reset();
    const ProcessWatchdog guard(after(in_good_order ? timeout : kLeaving), exit_code, [&] {
      return in_good_order ? waiting_text("to leave", timeout) : std::string();
    });
    if (comm != nullptr && comm->heartbeat_table() != nullptr) {
      comm->heartbeat_table()->own().left = 1;
    }
    const std::weak_ptr<Communicator> held = unwatched;
    comm.reset();
    recorder.reset();
    unwatched.reset();
    fatal_signals.reset();  // it reads the table
    if (pinned) {
      unpin_threads();
    }
    if (backend != nullptr && (exits || held.expired())) {  // who still holds it may still use it
      backend->disconnect();
    }
  }

  [[nodiscard]] bool failed() const {
    return comm != nullptr && comm->heartbeat_table() != nullptr &&
           comm->heartbeat_table()->failure().written();
  }

  void require_healthy() const {
    if (failed()) {
      std::rethrow_exception(comm->heartbeat_table()->failure().exception());
    }
  }

  /// An end that passes by the World's destructor: exit() leaves as that does, and so the others
  /// hear of it; an exception that nobody catches ends all ranks as in `run`.
  void watch_over_the_end() {
    unexpected_end.emplace(
        [this](const std::exception_ptr& error) {
          const int code = exit_code_of(error);
          ending = true;
          end(error, {}, code);
          std::_Exit(code);  // destructors would wait for what is stuck
        },
        [this] { leave(true); });
  }

  /// Makes all ranks one: same bits, cores dealt out. A rank that has failed meanwhile has poisoned
  /// the communicator; who uses it hears of that.
  void settle(const WorldOptions& options, bool launched) {
    try {
      introduce(*comm, options.independent);
      if (comm->rank() == 0) {
        check_settings();
      }
      choose_common_numerics(*comm);
      pinned = take_cores(*comm, options.threads, launched);
    } catch (...) {
      if (comm->size() > 1) {
        comm->abort(std::current_exception());
      }
      if (!failed() || comm->heartbeat_table()->failure().rank == comm->rank()) {
        throw;
      }
    }
  }

  /// From now on a failure that the program does not react to ends it.
  void watch_over_failures() {
    const auto table = comm->heartbeat_table();
    const auto since = std::make_shared<Time>();
    const auto stuck = [table, since] {
      if (table->failure().written() && *since == Time{}) {
        *since = clock().now();
      }
      return *since != Time{} && clock().now() - *since > kLastMoment;
    };
    sentry = std::make_unique<ProcessWatchdog>(stuck, 1, [this] {
      say_failure(*comm);
      return std::string();
    });
  }

  void end(const std::exception_ptr& error, const std::string& program, int code) {
    exit_code = code;
    comm->abort(error);
    const auto table = comm->heartbeat_table();
    const bool first = failed() && table->failure().rank == comm->rank();
    if (first) {
      say_failure(*comm, program, text_of(error));
    }
    if (recorder != nullptr) {
      log_error("the last collectives of this rank:\n", recorder->report());
    }
    table->own().left = 1;
    const Time until = clock().now() + (first ? kNotice : kPatience);
    while (!table->all_left() && clock().now() < until) {
      clock().sleep_for(10ms);
    }
    if (!first) {
      say_failure(*comm, program);  // unless the rank that failed first has
    }
    // Across hosts MPI may hold messages that nobody will take any more, and would not let go.
    if (backend != nullptr && (!table->all_left() || local_size < comm->size())) {
      gone = true;
      backend->kill(code);
    }
  }
};

int exit_code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument&) {
    return 2;
  } catch (const IoError&) {
    return 2;
  } catch (const Disagreement&) {
    return 2;
  } catch (...) {
    return 1;
  }
}

World World::start(const WorldOptions& options) {
  say_idle_variables(options.threads > 0);
  auto state = std::make_shared<State>();
  const LaunchEnvironment announced = launch_environment();
  state->backend = choose_backend(options.backend);
  if (state->backend == nullptr) {
    if (options.backend == "auto") {
      require_delivered(announced, 1, !all_backends().empty());
    }
    state->comm = make_loopback(1).front();
  } else {
    const auto limit = options.comm_timeout.count() > 0 ? std::max(options.comm_timeout, kStart)
                                                        : options.comm_timeout;
    Reminder reminder;
    const auto stuck = [&, late = after(turn_to_speak(limit, announced.rank)),
                        begin = clock().now()]() mutable {
      if (announced.rank == 0 && reminder.due(clock().now() - begin)) {
        log_warning(waiting_text("to start", round_seconds(clock().now() - begin)));
      }
      return late();
    };
    const ProcessWatchdog guard(stuck, 1, [&] { return waiting_text("to start", limit); });
    state->comm = state->backend->connect();
    require_delivered(announced, state->comm->size(), true);
  }
  if (state->comm->size() > 1) {
    state->timeout = options.comm_timeout;
    state->unwatched = state->comm;
    state->comm = with_watchdog(state->unwatched, {options.comm_timeout});
  }
  if (recorded.get() > 0) {
    state->recorder =
        std::make_shared<Recorder>(state->comm, static_cast<std::size_t>(recorded.get()));
    state->comm = state->recorder;
  }
  for (int rank = 0; rank < state->comm->size(); ++rank) {
    const bool local = is_local(*state->comm, rank);
    state->local_size += local ? 1 : 0;
    state->local_rank += local && rank < state->comm->rank() ? 1 : 0;
  }
  state->host = state->comm->host(state->comm->rank());
  if (const auto table = state->comm->heartbeat_table();
      state->backend != nullptr && table != nullptr) {
    state->fatal_signals = std::make_unique<FatalSignals>(table, state->host);
  }
  if (state->backend != nullptr) {
    state->watch_over_the_end();
  }
  state->settle(options, !announced.launcher.empty());
  return World(std::move(state));
}

int World::rank() const {
  return state_->comm->rank();
}
int World::size() const {
  return state_->comm->size();
}
int World::local_rank() const {
  return state_->local_rank;
}
int World::local_size() const {
  return state_->local_size;
}
const std::string& World::host() const {
  return state_->host;
}
const std::shared_ptr<Communicator>& World::communicator() const {
  return state_->comm;
}

int World::run(const std::function<void()>& body, const std::string& program,
               const std::function<int(const std::exception_ptr&)>& code) const {
  try {
    if (size() > 1) {
      state_->watch_over_failures();
    }
    state_->require_healthy();
    body();
    state_->sentry.reset();
    return 0;
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    const int exit_code = code(error);
    state_->end(error, program, exit_code);
    return exit_code;
  }
}

}  // namespace tessera::dist
