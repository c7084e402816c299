// The arrays of a file as a state dict.
#pragma once

#include <string>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/weights.h>

namespace tessera::nn {

/// What `reader` holds for `module`, under the module's dotted names: see load_weights. `path`
/// serves messages only. Throws IoError naming file and field.
[[nodiscard]] StateDict read_state(ArrayFileReader& reader, const std::string& path,
                                   const Module& module, const NameMap& names);

}  // namespace tessera::nn
