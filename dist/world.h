// The ranks that train together, however they were started.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

struct WorldOptions {
  /// A backend's name, "loopback" (this process alone), or "auto": what started the process.
  std::string backend = "auto";
  /// How long a collective waits for a silent rank before it fails with Timeout; 0: for ever. One
  /// that is busy (BusyScope) is waited for ten times as long; from 5 s on the log says for whom.
  /// All ranks have to start within this time too, or within five seconds if that is longer.
  std::chrono::milliseconds comm_timeout{60'000};
  /// Threads of every rank; 0: TESSERA_THREADS, or else the rank's share of its host's cores.
  int threads = 0;
  /// True: every rank trains a model of its own, as in a search for hyperparameters. The Context is
  /// that of a process alone, so loaders give each rank whole batches. False: ranks train one
  /// model, and optimizers refuse to update what nobody keeps equal on all of them.
  bool independent = false;
};

/// The exit code that a program ends with for an exception: 2 for what the user gave (options,
/// data, checkpoints: InvalidArgument, IoError, Disagreement), else 1.
[[nodiscard]] int exit_code_of(const std::exception_ptr& error);

/// A handle on this process's world; copies share it, and the last one leaves it: it waits until
/// all ranks leave, however long they take. A rank that shows no sign of life for `comm_timeout`
/// meanwhile, or at the start, ends this process with a text that names it.
class World {
 public:
  /// Joins the world: alone, under the mpirun of the MPI that Tessera was built with, or under
  /// srun --mpi=pmix. Sets the calling thread's Context (rank, world_size, log_prefix) and the
  /// number of threads, and ties them to cores where the ranks' threads fit the cores. Ranks on
  /// unlike CPUs use the best instruction set that all of them have.
  /// Where a launcher started the process, SIGSEGV and its like name the rank before they end it,
  /// unless the program handles them.
  /// Throws InvalidArgument when a launcher announces more ranks than can be reached.
  static World start(const WorldOptions& options = {});

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// This rank's number among those of its host, and how many they are.
  [[nodiscard]] int local_rank() const;
  [[nodiscard]] int local_size() const;
  [[nodiscard]] const std::string& host() const;
  /// All ranks, watched by a watchdog.
  [[nodiscard]] const std::shared_ptr<Communicator>& communicator() const;

  /// Runs `body` and returns the program's exit code. An exception, here or on another rank, ends
  /// all ranks within two seconds; its text is printed once, by the rank that failed first, after
  /// "PROGRAM: " when `program` is given.
  [[nodiscard]] int run(
      const std::function<void()>& body, const std::string& program = {},
      const std::function<int(const std::exception_ptr&)>& code = exit_code_of) const;

 private:
  struct State;
  explicit World(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tessera::dist
