// How ranks wait for each other outside training: to start, and to leave.
#pragma once

#include <chrono>
#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Returns once every rank has called it. A rank may take as long as it likes while its process
/// lives; one that shows no sign of life for `deadline` (0: for ever) ends this process with a text
/// that names it. Collective.
void wait_for_all(Communicator& comm, std::chrono::milliseconds deadline);

/// Prints "[rank 1] PROGRAM: text", the first failure of a world, unless it is printed: by the rank
/// that failed, or by another of its host where that one cannot any more. `text` is the whole text
/// where the caller has it. Does nothing while nothing has failed.
void say_failure(Communicator& comm, const std::string& program = {}, const std::string& text = {});

/// "world: rank 0 (host a) waited 60 s for the other ranks to start; rank 1 (process 7) is stopped"
[[nodiscard]] std::string waiting_text(const std::string& what, std::chrono::milliseconds time);

}  // namespace tessera::dist
