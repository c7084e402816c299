// A folder that goes away with the test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <tessera/core/base/file.h>

namespace tessera::testing_support {

/// Gives each test a fresh folder on the real disk.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "/tessera_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    const FileSystemScope scope(real_file_system());
    remove_tree(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return join_path(path_, name);
  }

 private:
  std::string path_;
};

}  // namespace tessera::testing_support
