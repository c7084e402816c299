#include "signals.h"

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <tessera/dist/comm/collectives.h>

namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void request_stop(int) {
  requested = 1;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;  // what the signal interrupts goes on
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    sigaction(signal, &action, nullptr);
  }
}

bool stop_requested(tessera::dist::Communicator& comm) {
  namespace dist = tessera::dist;
  std::vector<std::int32_t> flag{requested != 0 ? 1 : 0};
  dist::all_reduce(comm, std::span(flag), dist::ReduceOp::max, "stop").wait();
  return flag[0] != 0;
}
