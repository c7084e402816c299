// What inline functions keep for a thread is the library's, too, though this project hides its
// symbols.
#pragma once

#include <string>

namespace outside {

/// Names of what the library does not see; empty if it sees all.
[[nodiscard]] std::string state_that_is_not_shared();

}  // namespace outside
