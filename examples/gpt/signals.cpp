#include "signals.h"

#include <csignal>
#include <initializer_list>

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

bool stop_requested() {
  return requested != 0;
}
