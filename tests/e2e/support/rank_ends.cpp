// rank_ends PHASE WAY RANK: one rank of a job ends in a phase of it, in a way that the others have
// to hear of. See e2e/rank_ends.
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/busy_scope.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/world.h>

namespace {

using namespace tessera;

/// The program's own thread, which ends the process; main waits for it while the world lives.
std::thread own_thread;

/// True: the rank is to return from where it is.
bool end_here(const std::string& way) {
  if (way == "throw" || way == "uncaught") {
    throw std::runtime_error("the reason");
  }
  if (way == "thread") {  // while the rank goes on
    own_thread = std::thread([] { throw std::runtime_error("the reason"); });
    return false;
  }
  if (way.starts_with("exit")) {
    std::exit(way.back() - '0');
  }
  if (way.starts_with("quick")) {
    std::quick_exit(way.back() - '0');
  }
  if (way == "abort") {
    std::abort();
  }
  for (const auto& [name, signal] :
       {std::pair{"kill", SIGKILL}, {"terminate", SIGTERM}, {"segfault", SIGSEGV}}) {
    if (way == name) {
      std::raise(signal);
    }
  }
  return true;
}

/// As the states of an optimizer come to rank 0 before a save: in another group, one by one.
void gather(dist::Communicator& group) {
  std::vector<float> part(100'000);
  for (int rank = 1; rank < group.size(); ++rank) {
    if (group.rank() == rank) {
      dist::send<float>(group, part, 0, "part").wait();
    } else if (group.rank() == 0) {
      dist::receive<float>(group, part, rank, "part").wait();
    }
  }
}

void train(const dist::World& world, const std::string& way, const auto& ends) {
  dist::Communicator& comm = *world.communicator();
  const auto group = comm.split(0, comm.rank(), "world/host");
  std::vector<float> sums(1000);
  for (int step = 0; step < 6; ++step) {
    if ((ends(step == 0 ? "start" : "") || (step == 3 && ends("loop"))) && end_here(way)) {
      return;
    }
    dist::all_reduce(comm, std::span(sums), dist::ReduceOp::sum, "gradients").wait();
    if (step == 4) {
      if (ends("gather") && end_here(way)) {
        return;
      }
      gather(*group);
      const BusyScope busy("saves");
      if (ends("save") && end_here(way)) {
        return;
      }
      dist::barrier(comm, "saved").wait();
    }
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string phase = argv[1];
  const std::string way = argv[2];
  const auto world = dist::World::start();
  const auto kept = world.communicator();  // as a model does
  const auto ends = [&](const std::string& now) {
    return now == phase && (argv[3] == std::string("all") || world.rank() == std::atoi(argv[3]));
  };
  if (way == "uncaught") {
    train(world, way, ends);
  }
  const int code = way == "uncaught" ? 0 : world.run([&] { train(world, way, ends); }, "job");
  if (ends("end")) {
    end_here(way);
  }
  if (own_thread.joinable()) {
    own_thread.join();
  }
  return code;
}
