// The pictures in tests/fixtures/images.
#pragma once

#include <fstream>
#include <string>

#include <tessera/core/base/file.h>

namespace tessera::testing_support {

inline std::string picture(const std::string& name) {
  return std::string(TESSERA_TEST_FOLDER "/fixtures/images/") + name;
}

/// The text of what `f` throws as E.
template <class E, class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing of that kind thrown";
}

/// Writes `text` to `path`; unlike write_file without waiting for the disk.
inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace tessera::testing_support
