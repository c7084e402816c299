// What loading a file that lies in memory says.
#pragma once

#include <span>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/base/simulated_file_system.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

namespace tessera::nn {

/// The error of a load of weights from `path`, which holds `bytes`; "no error" without one.
inline std::string said_of(const std::string& bytes, const std::string& path) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  write_file(path, std::as_bytes(std::span(bytes)));
  try {
    load_weights(*make<Linear>(2, 3), path);
  } catch (const IoError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tessera::nn
