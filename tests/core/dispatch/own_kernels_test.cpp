// The table of kernels by device, and kernels that put their work into a stream themselves.
#include <gtest/gtest.h>

#include <tessera/core/device/hazards.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

#include "support/error_of.h"
#include "support/own_kernels_device.h"

namespace tessera {
namespace {

using test::own_kernels_device;
using testing_support::error_of;
using Floats = std::vector<float>;

Tensor there(const Shape& shape, double value) {
  return full(shape, value, {.device = own_kernels_device()});
}

TEST(OwnKernels, get_the_stream_that_work_goes_to) {
  static_cast<void>(test::streams_of_kernels());
  const Stream side({own_kernels_device()}, "side");
  const Tensor x = there({1000}, 3);
  const Tensor y = x * 2;
  Tensor z;
  {
    const StreamScope scope(side.id());
    z = y * y;
  }
  EXPECT_TRUE(z.get().storage->has_hazards());
  EXPECT_EQ((z * x).to_vector<float>(), Floats(1000, 108));
  const StreamId home{.device = own_kernels_device()};
  EXPECT_EQ(test::streams_of_kernels(), (std::vector<StreamId>{home, side.id(), home}));
}

TEST(OwnKernels, have_workspace_until_their_work_is_done) {
  Tensor x = there({100'000}, 1);
  for (int i = 0; i < 20; ++i) {
    x = x * 2;  // nobody waits: 20 workspaces live at once
  }
  EXPECT_EQ(x.to_vector<float>(), Floats(100'000, 1 << 20));
}

TEST(OwnKernels, are_those_of_the_device_alone) {
  const Tensor x = there({2, 3}, 3);
  EXPECT_EQ(error_of<Unsupported>([&] { static_cast<void>(exp(x)); }),
            "exp: there is no kernel on own:0; expected tensors on cpu, which has one of every op");
  EXPECT_EQ(error_of<Unsupported>([&] { static_cast<void>(transpose(x, 0, 1) * 2); }),
            "mul: there is no kernel on own:0 for such inputs; expected tensors on cpu, which has "
            "one of every op");
  EXPECT_EQ((full({3}, 2) * 2).to_vector<float>(), Floats(3, 4));
}

}  // namespace
}  // namespace tessera
