// Row K6 in a build without HDF5.
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "support/simulated_file_system.h"

namespace tessera::nn {
namespace {

TEST(K6, saves_or_says_which_option_would) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto model = make<Linear>(2, 3);
  try {
    save_weights(*model, "a.h5");
    EXPECT_EQ(files.kind("a.h5"), FileKind::regular);
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("-DTESSERA_WITH_HDF5=ON"), std::string::npos);
    EXPECT_EQ(files.kind("a.h5"), FileKind::missing);
  }
}

}  // namespace
}  // namespace tessera::nn
