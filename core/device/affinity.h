// Which cores the process may run on, and tying threads to them.
#pragma once

#include <vector>

namespace tessera {

/// Numbers of the cores in the affinity mask that the process had when this was first called,
/// ascending; at least one.
[[nodiscard]] const std::vector<int>& process_cores();

/// Ties the calling thread to the core `process_cores()[index]`. Threads that it starts later
/// inherit this. False when the system refuses.
bool pin_this_thread(int index);

/// Lets the calling thread run on all of `process_cores()`. A thread started by a pinned one calls
/// it first, unless it wants to share its starter's core.
bool unpin_this_thread();

}  // namespace tessera
