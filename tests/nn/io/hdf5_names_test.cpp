// Row I-14 in HDF5: weights under other names.
#include <gtest/gtest.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/module.h>

#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

struct Factor : Module {
  Parameter factor{this, "factor", {3}, [](const Tensor&, const Box&, const RandomStream&) {}};
};

struct Around : Module {
  Child<Factor> last{this, "last"};
};

TEST(I_14, hdf5_files_under_other_names) {
  const testing_support::TemporaryFolder folder;
  const auto model = make<Around>();
  std::fill_n(model->last->factor.slot()->value.data<float>(), 3, 7.0F);
  const std::string path = folder / "weights.h5";
  export_weights(*model, path, Format::hdf5, name_maps::separators(".", "|"));
  const auto other = make<Around>();
  EXPECT_THROW(import_weights(*other, path, Format::hdf5), RuntimeError);
  const LoadResult result =
      import_weights(*other, path, Format::hdf5, name_maps::separators("|", "."));
  EXPECT_TRUE(result.missing_keys.empty());
  EXPECT_EQ(other->last->factor.value().to_vector<float>(), (std::vector<float>{7, 7, 7}));
}

}  // namespace
}  // namespace tessera::nn
