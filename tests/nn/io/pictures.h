// The pictures in tests/fixtures/images.
#pragma once

#include <fstream>
#include <string>

#include <tessera/core/base/file.h>

namespace tessera::testing_support {

inline std::string picture(const std::string& name) {
  return std::string(TESSERA_TEST_FOLDER "/fixtures/images/") + name;
}

/// Writes `text` to `path`; unlike write_file without waiting for the disk.
inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace tessera::testing_support
