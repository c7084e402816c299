// Being asked to stop.
#pragma once

/// From now on SIGTERM, SIGINT and SIGUSR1 ask for a stop at the end of the step in hand. (mpirun
/// passes SIGUSR1 on at once, and gives ranks two seconds after SIGTERM.)
void catch_stop_signals();

/// True once one of them came to this process.
bool stop_requested();
