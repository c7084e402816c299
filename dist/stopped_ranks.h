// Which ranks of this host stand still.
#pragma once

#include <string>

namespace tessera::dist {

/// "rank 1 (process 4711)", and so on: processes that the launcher of this one started too and that
/// are stopped, as by SIGSTOP or a debugger. Empty when there are none, or when this system does
/// not say.
[[nodiscard]] std::string stopped_ranks_here();

}  // namespace tessera::dist
