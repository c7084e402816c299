// What loading a file that lies in memory says.
#pragma once

#include <span>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "support/error_of.h"
#include "support/simulated_file_system.h"

namespace tessera::nn {

/// The error of a load of weights from `path`, which holds `bytes`; "no error" without one.
inline std::string said_of(const std::string& bytes, const std::string& path) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  write_file(path, std::as_bytes(std::span(bytes)));
  return testing_support::error_of<IoError>([&] { load_weights(*make<Linear>(2, 3), path); });
}

}  // namespace tessera::nn
