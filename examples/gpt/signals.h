// Being asked to stop.
#pragma once

#include <tessera/dist/comm/communicator.h>

/// From now on SIGTERM, SIGINT and SIGUSR1 ask for a stop at the end of the step in hand. (mpirun
/// passes SIGUSR1 on at once, and gives ranks two seconds after SIGTERM.)
void catch_stop_signals();

/// True on all ranks once one of them came to any rank. Collective.
[[nodiscard]] bool stop_requested(tessera::dist::Communicator& comm);
