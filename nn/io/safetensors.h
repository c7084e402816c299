// The safetensors format: an eight-byte length, a JSON header, then the arrays' bytes.
// Format: https://github.com/huggingface/safetensors
#pragma once

#include <memory>
#include <string>

#include <tessera/nn/io/array_file.h>

namespace tessera::nn {

/// Opens a safetensors file. The whole header is checked before anything else is believed: its
/// length, every shape and offset; arrays must fill the rest of the file without holes or overlaps.
/// Throws IoError naming file and array. Arrays of a dtype that no tensor has (U16, F8_E4M3, ...)
/// or of more than 8 dims are listed with a refusal. The texts under "__metadata__" are attributes
/// of the file.
[[nodiscard]] std::unique_ptr<ArrayFileReader> open_safetensors(const std::string& path);

/// Writes the arrays, in order, under their paths, and syncs. Texts among the file's attributes go
/// to "__metadata__", and so does an alias, as its name and its target's, because the format cannot
/// hold one array twice. Throws Unsupported for c128 and for attributes that are no texts of the
/// file, InvalidArgument for doubled names, IoError when the disk fails.
void write_safetensors(const std::string& path, const ArrayFileContents& contents);

}  // namespace tessera::nn
