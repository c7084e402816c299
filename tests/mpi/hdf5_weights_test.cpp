// Files that all ranks write at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>

#include <tessera/core/base/file.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>

#include "support/temporary_folder.h"
#include "world.h"

namespace tessera::dist {
namespace {

/// Rank 0's text, on all ranks.
std::string of_rank_0(const std::string& text) {
  std::array<std::uint8_t, 256> shared{};
  EXPECT_LT(text.size(), shared.size());
  std::copy_n(text.begin(), std::min(text.size(), shared.size() - 1), shared.begin());
  broadcast<std::uint8_t>(*test_world().communicator(), shared, 0).wait();
  return {shared.begin(), std::find(shared.begin(), shared.end(), 0)};
}

TEST(WeightsOverMpi, all_ranks_may_save_to_one_path) {
  const testing_support::TemporaryFolder folder;
  const std::string path = join_path(of_rank_0(folder.path()), "all.h5");
  const auto model = nn::make<nn::Linear>(64, 64);
  for (int n = 0; n < 20; ++n) {
    nn::save_weights(*model, path);
    EXPECT_NO_THROW(static_cast<void>(nn::open_array_file(path, nn::Checksums::required)));
  }
  barrier(*test_world().communicator()).wait();
  EXPECT_EQ(file_system().list(folder.path()).size(), test_world().rank() == 0 ? 1U : 0U);
}

}  // namespace
}  // namespace tessera::dist
