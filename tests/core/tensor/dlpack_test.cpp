// Row N2 of the Module contract, its part for tensors in memory; tests/e2e/dlpack has NumPy's side.
#include <tessera/core/tensor/dlpack.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Numbers of somebody else's, 0 to 11 as a matrix (3, 4), who counts calls of the deleter.
struct Lender {
  std::array<float, 12> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::array<std::int64_t, 2> shape{3, 4}, strides{4, 1};
  int returned = 0;
  dlpack::ManagedTensor managed;

  Lender() {
    managed.view.data = numbers.data();
    managed.view.ndim = 2;
    managed.view.dtype = {2, 32, 1};
    managed.view.shape = shape.data();
    managed.view.strides = strides.data();
    managed.context = this;
    managed.deleter = [](dlpack::ManagedTensor* m) {
      ++static_cast<Lender*>(m->context)->returned;
    };
  }
};

TEST(N2Dlpack, elements_are_shared_and_given_back_once) {
  Lender lender;
  {
    Tensor row;
    {
      const Tensor x = from_dlpack(&lender.managed);
      EXPECT_EQ(x.shape(), (Shape{3, 4}));
      EXPECT_EQ(x.raw_data(), lender.numbers.data());
      row = slice(x, 0, 1, 2);
    }
    EXPECT_EQ(lender.returned, 0);
    row.copy_(full({1, 4}, -1.0));
  }
  EXPECT_EQ(lender.returned, 1);
  EXPECT_EQ(lender.numbers[3], 3);
  EXPECT_EQ(lender.numbers[4], -1);
}

TEST(N2Dlpack, reads_strides_offsets_and_row_major) {
  Lender lender;
  lender.shape = {4, 3}, lender.strides = {1, 4};
  EXPECT_THAT(from_dlpack(&lender.managed).to_vector<float>(),
              ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  lender.shape = {2, 2};
  lender.managed.view.byte_offset = 8 * sizeof(float);
  lender.managed.view.strides = nullptr;
  EXPECT_THAT(from_dlpack(&lender.managed).to_vector<float>(), ElementsAre(8, 9, 10, 11));
}

TEST(N2Dlpack, hands_out_every_dtype_and_takes_it_back) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    Tensor x = reshape(arange(12, {.dtype = DType::f64}), {3, 4});
    const Tensor typed = zeros({3, 4}, {.dtype = dtype});
    typed.copy_(x);
    const Tensor view = permute(slice(typed, 1, 1, 3), {1, 0});
    dlpack::ManagedTensor* out = to_dlpack(view);
    EXPECT_EQ(out->view.dtype.bits, 8 * size_of(dtype)) << dtype;
    const Tensor back = from_dlpack(out);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.raw_data(), view.raw_data());
    EXPECT_EQ(back.strides(), view.strides());
    EXPECT_EQ(back.to_vector<double>(), view.to_vector<double>()) << dtype;
  }
}

TEST(N2Dlpack, what_was_handed_out_outlives_the_tensor) {
  dlpack::ManagedTensor* out = nullptr;
  {
    const Tensor x = arange(3, {.dtype = DType::i64});
    out = to_dlpack(x);
  }
  EXPECT_EQ(static_cast<const std::int64_t*>(out->view.data)[2], 2);
  out->deleter(out);
}

TEST(N2Dlpack, takes_no_dims_and_no_elements) {
  const Tensor number = from_dlpack(to_dlpack(full({}, 7.0)));
  EXPECT_EQ(number.item(), 7.0);
  EXPECT_EQ(from_dlpack(to_dlpack(zeros({0, 3}))).shape(), (Shape{0, 3}));
}

TEST(N2Dlpack, refuses_to_hand_out_what_it_cannot) {
  const Tensor x = zeros({2}).set_requires_grad(true);
  EXPECT_THAT([&] { static_cast<void>(to_dlpack(x)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("requires gradients")));
  const Tensor meta = empty({2}, {.device = Device::parse("meta")});
  EXPECT_THAT([&] { static_cast<void>(to_dlpack(meta)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("meta")));
}

TEST(N2Dlpack, refuses_what_tensors_are_not_and_leaves_it_to_the_caller) {
  Lender lender;
  const auto refuses = [&](const char* part) {
    EXPECT_THAT([&] { static_cast<void>(from_dlpack(&lender.managed)); },
                ThrowsMessage<Error>(HasSubstr(part)));
    EXPECT_EQ(lender.returned, 0);
    lender.~Lender();
    new (&lender) Lender;
  };
  lender.managed.view.dtype = {2, 32, 4};
  refuses("4 lanes");
  lender.managed.view.dtype = {1, 64, 1};
  refuses("code 1, 64 bits");
  lender.managed.view.device = {2, 0};
  refuses("got type 2");
  lender.strides = {-4, 1};
  refuses("negative stride");
  lender.shape = {-1, 1};
  refuses("negative size");
  lender.managed.view.ndim = 9;
  refuses("number of dims");
  lender.managed.view.byte_offset = 2;
  refuses("not aligned");
}

}  // namespace
}  // namespace tessera
