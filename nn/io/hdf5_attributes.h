// Small values beside groups and arrays.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/hdf5_handle.h>

namespace tessera::nn {

/// The attribute of every array that holds the hash of its bytes; not shown among attributes.
inline constexpr const char* kChecksumAttribute = "checksum";
/// The attribute, not shown either, of an array of 16-bit words that are bf16.
inline constexpr const char* kDTypeAttribute = "dtype";
inline constexpr const char* kBfloat16 = "bfloat16";

/// Creates the attribute on the open object `owner`. Texts are UTF-8 of variable length.
void write_hdf5_attribute(hid_t owner, const std::string& name, const AttributeValue& value);

/// Sets the checksum of the array `owner`; created at the first call.
void write_hdf5_checksum(hid_t owner, std::uint64_t hash);

/// Whether the open object `owner` has the text `text` as its attribute `name`.
[[nodiscard]] bool has_hdf5_attribute(hid_t owner, const std::string& name,
                                      const std::string& text);

/// Adds to `all` the numbers, texts and lists of them on the open object `owner`, named `path`.
/// Attributes of other types are none that Tessera wrote and are left out.
void read_hdf5_attributes(hid_t owner, const std::string& path, std::vector<ArrayAttribute>& all);

}  // namespace tessera::nn
