#include <tessera/dist/world.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/settings.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/dist/comm/backend.h>
#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/recorder.h>
#include <tessera/dist/comm/status_board.h>
#include <tessera/dist/comm/watchdog.h>
#include <tessera/dist/common_bits.h>
#include <tessera/dist/cores.h>
#include <tessera/dist/farewell.h>
#include <tessera/dist/last_resort.h>
#include <tessera/dist/launcher.h>
#include <tessera/dist/transports.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

const Setting<int> recorded{"TESSERA_COMM_RECORD", 0,
                            "Collectives that a rank remembers, and prints when it fails"};

constexpr std::chrono::milliseconds kStart = 5000ms;  // for MPI to start, at least
// After a failure:
constexpr auto kFarewell = 400ms;     // for the others to notice it and end by themselves
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
  std::unique_ptr<LastResort> sentry;  ///< while `run` is under way
  int local_rank = 0;
  int local_size = 0;
  int exit_code = 1;
  bool pinned = false;
  std::string host;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    const bool failed =
        comm != nullptr && comm->board() != nullptr && comm->board()->failure().written();
    if (comm != nullptr && comm->size() > 1 && !failed) {
      wait_for_all(*unwatched, timeout);
    }
    sentry.reset();
    const LastResort guard(after(failed ? kLeaving : timeout), exit_code, [failed, this] {
      return failed ? std::string() : waiting_text("to leave", timeout);
    });
    if (comm != nullptr && comm->board() != nullptr) {
      comm->board()->own().left = 1;
    }
    comm.reset();
    recorder.reset();
    unwatched.reset();
    if (pinned) {
      unpin_threads();
    }
    if (backend != nullptr) {
      backend->disconnect();
    }
  }

  /// From now on a failure that the program does not react to ends it.
  void watch_over_failures() {
    const auto board = comm->board();
    const auto since = std::make_shared<Time>();
    const auto stuck = [board, since] {
      if (board->failure().written() && *since == Time{}) {
        *since = clock().now();
      }
      return *since != Time{} && clock().now() - *since > kLastMoment;
    };
    sentry = std::make_unique<LastResort>(stuck, 1, [board] {
      const bool first = board->failure().rank == board->rank();
      return first && board->failure().printed.exchange(1) == 0 ? board->failure().text : "";
    });
  }

  [[nodiscard]] bool all_left() const {
    const auto board = comm->board();
    for (int rank = 0; rank < comm->size(); ++rank) {
      if (board->cell(rank).left == 0) {
        return false;
      }
    }
    return true;
  }

  void end(const std::exception_ptr& error, const std::string& program, int code) {
    exit_code = code;
    comm->abort(error);
    const auto board = comm->board();
    const bool first = board->failure().written() && board->failure().rank == comm->rank();
    if (first && board->failure().printed.exchange(1) == 0) {
      std::cerr << (program.empty() ? "" : program + ": ") + text_of(error) + "\n" << std::flush;
    }
    if (recorder != nullptr) {
      log_error("the last collectives of this rank:\n", recorder->report());
    }
    board->own().left = 1;
    const Time until = clock().now() + (first ? kFarewell : kPatience);
    while (!all_left() && clock().now() < until) {
      std::this_thread::sleep_for(10ms);
    }
    // Across hosts MPI may hold messages that nobody will take any more, and would not let go.
    if (backend != nullptr && (!all_left() || local_size < comm->size())) {
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
  auto state = std::make_shared<State>();
  const Announcement announced = announced_world();
  state->backend = choose_backend(options.backend);
  if (state->backend == nullptr) {
    if (options.backend == "auto") {
      require_delivered(announced, 1, !all_backends().empty());
    }
    state->comm = make_loopback(1).front();
  } else {
    const auto limit = options.comm_timeout.count() > 0 ? std::max(options.comm_timeout, kStart)
                                                        : options.comm_timeout;
    const LastResort guard(after(limit), 1, [&] { return waiting_text("to start", limit); });
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
  introduce(*state->comm, options.independent);
  choose_common_bits(*state->comm);
  state->pinned = take_cores(*state->comm, options.threads, !announced.launcher.empty());
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
