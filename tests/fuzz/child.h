// Running what may crash in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace tessera::fuzz {

enum class ChildEnd {
  returned,
  threw,
  hung,             ///< stopped after two seconds
  crashed_in_hdf5,  ///< the innermost frame of ours or HDF5's is HDF5's
  crashed_elsewhere,
};

/// Forks and runs `body`; the library that a crash happened in is found from the stack.
[[nodiscard]] ChildEnd run_in_child(const std::function<void()>& body);

/// "libhdf5 1.10.8".
[[nodiscard]] std::string hdf5_library();

}  // namespace tessera::fuzz
