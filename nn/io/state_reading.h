// The arrays of a file as a state dict.
#pragma once

#include <map>
#include <string>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/weights.h>

namespace tessera::nn {

/// State with the module's names, and what the file calls it.
struct FileState {
  /// An array of the file; `transposed` on its way.
  struct Source {
    std::string path;
    bool transposed = false;
  };
  StateDict state;
  std::map<std::string, Source> sources;  ///< by names that differ from the file's

  /// The file's name for messages, and `name` in parentheses where that is another one.
  [[nodiscard]] std::string text(const std::string& name) const;
};

/// What `reader` holds for `module`, under the module's dotted names: see load_weights. `path`
/// serves messages only. Throws IoError naming file and field.
[[nodiscard]] FileState read_state(ArrayFileReader& reader, const std::string& path,
                                   const Module& module, const NameMap& names);

}  // namespace tessera::nn
