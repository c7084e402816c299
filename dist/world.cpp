#include <tessera/dist/world.h>

#include <iostream>
#include <map>
#include <thread>
#include <utility>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/comm/backend.h>
#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/status_board.h>
#include <tessera/dist/comm/watchdog.h>
#include <tessera/dist/launcher.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

constexpr auto kFarewell = 1000ms;  // for the others to notice a failure and end by themselves
constexpr auto kPatience = 1500ms;  // for the rank that failed to end the rest

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

void introduce(const Communicator& comm) {
  Context& context = Context::current();
  context.rank = comm.rank();
  context.world_size = comm.size();
  context.log_prefix = comm.size() > 1 ? detail::concat("[rank ", comm.rank(), "] ") : "";
  if (comm.rank() == 0 && comm.size() > 1) {
    log_info("world of ", comm.size(), " ranks: ", describe_transports(comm));
  }
}

}  // namespace

struct World::State {
  Backend* backend = nullptr;
  std::shared_ptr<Communicator> comm;
  int local_rank = 0;
  int local_size = 0;
  std::string host;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (comm != nullptr && comm->board() != nullptr) {
      comm->board()->own().left = 1;
    }
    comm.reset();
    if (backend != nullptr) {
      backend->disconnect();
    }
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
    comm->abort(error);
    const auto board = comm->board();
    const bool first = board->failure().written() && board->failure().rank == comm->rank();
    if (first && board->failure().printed.exchange(1) == 0) {
      std::cerr << (program.empty() ? "" : program + ": ") + text_of(error) + "\n" << std::flush;
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
      require_delivered(announced, 1,
                        all_backends().empty() ? "a build without MPI" : "no MPI launcher");
    }
    state->comm = make_loopback(1).front();
  } else {
    state->comm = state->backend->connect();
    require_delivered(announced, state->comm->size(), state->backend->name());
  }
  if (state->comm->size() > 1) {
    state->comm = with_watchdog(state->comm, {options.comm_timeout});
  }
  for (int rank = 0; rank < state->comm->size(); ++rank) {
    const bool local = is_local(*state->comm, rank);
    state->local_size += local ? 1 : 0;
    state->local_rank += local && rank < state->comm->rank() ? 1 : 0;
  }
  state->host = state->comm->host(state->comm->rank());
  introduce(*state->comm);
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
    body();
    return 0;
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    const int exit_code = code(error);
    state_->end(error, program, exit_code);
    return exit_code;
  }
}

std::string describe_transports(const Communicator& comm) {
  std::map<std::string, std::string> hosts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    hosts[comm.host(rank)] += detail::concat(" ", rank, " (", comm.transport(rank), ")");
  }
  std::string text;
  for (const auto& [host, ranks] : hosts) {
    text += (text.empty() ? "" : "; ") + host + ":" + ranks;
  }
  return text;
}

}  // namespace tessera::dist
