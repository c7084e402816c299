// safetensors files written by the format's description, without the library's own writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>

namespace tessera::nn {

/// A file under construction: the members of its header, and its data.
struct SafetensorsByHand {
  std::string members;
  std::string data;

  void add(const std::string& name, const std::string& dtype, const std::string& shape,
           const std::string& bytes) {
    members += tessera::detail::concat(members.empty() ? "" : ",", '"', name, "\":{\"dtype\":\"",
                                       dtype, "\",\"shape\":", shape, ",\"data_offsets\":[",
                                       data.size(), ',', data.size() + bytes.size(), "]}");
    data += bytes;
  }
  void add_floats(const std::string& name, const std::string& shape,
                  const std::vector<float>& values) {
    add(name, "F32", shape, {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  }
  void write(const std::string& path) const {
    const std::string header = "{" + members + "}";
    const std::uint64_t size = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &size, 8);
    bytes += header + data;
    write_file(path, std::as_bytes(std::span(bytes)));
  }
};

}  // namespace tessera::nn
