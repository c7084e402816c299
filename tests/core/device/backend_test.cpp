// What holds for a device that is neither the CPU nor meta, on one that has no kernels.

#include <sstream>

#include <tessera/core/device/backend.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

#include "support/bare_device.h"
#include "support/error_of.h"

namespace tessera {
namespace {

using test::bare_device;
using testing_support::error_of;

TEST(Backends, bring_types_with_names) {
  EXPECT_EQ(Device::parse("bare"), bare_device());
  EXPECT_EQ(Device::parse("bare:1").index, 1);
  std::ostringstream text;
  text << Device::parse("bare:1");
  EXPECT_EQ(text.str(), "bare:1");
  EXPECT_EQ(error_of([] { check_available(Device::parse("bare:2")); }),
            "device: there are 2 of type bare; got bare:2, expected an index below that");
  const std::string unknown = error_of([] { static_cast<void>(Device::parse("naked")); });
  EXPECT_TRUE(
      unknown.starts_with("device: cannot be read; got \"naked\", expected cpu, cuda, meta, "))
      << unknown;
  EXPECT_NE(unknown.find("bare"), std::string::npos) << unknown;
}

TEST(Backends, have_no_types_beyond_the_names) {
  const auto type = static_cast<DeviceType>(200);
  std::ostringstream text;
  text << Device{.type = type, .index = 1};
  EXPECT_EQ(text.str(), "200:1");
  const std::string refused = error_of([&] { check_available({.type = type}); });
  EXPECT_TRUE(
      refused.starts_with("device: not available in this build; got 200, expected cpu, meta, "))
      << refused;
  EXPECT_NE(refused.find("bare"), std::string::npos) << refused;
  EXPECT_THROW(static_cast<void>(zeros({2}, {.device = {.type = type}})), NotImplementedError);
  EXPECT_FALSE(is_host_addressable({.type = type}));
}

TEST(Backends, hold_what_factories_make) {
  const TensorOptions there{.device = bare_device()};
  EXPECT_EQ(zeros({3}, there).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(full({2}, 7, there).device(), bare_device());
  EXPECT_EQ(arange(4, there).to_vector<float>(), arange(4).to_vector<float>());
  EXPECT_EQ(full({}, 3, there).item<int>(), 3);
  EXPECT_EQ(zeros({0, 3}, there).to_vector<float>(), std::vector<float>{});
  set_seed(4);
  const auto drawn = randn({5}).to_vector<float>();
  set_seed(4);
  EXPECT_EQ(randn({5}, there).to_vector<float>(), drawn);
}

TEST(Backends, give_memory_back) {
  const std::size_t before = test::bare_bytes();
  {
    const Tensor x = zeros({100}, {.device = bare_device()});
    const Tensor view = reshape(x, {10, 10});
    EXPECT_EQ(test::bare_bytes(), before + 400);
  }
  EXPECT_EQ(test::bare_bytes(), before);
}

TEST(Backends, show_and_move_views) {
  const Tensor x = reshape(on_device(arange(12), bare_device()), {3, 4});
  const Tensor across = transpose(x, 0, 1);
  const Tensor expected = transpose(reshape(arange(12), {3, 4}), 0, 1);
  EXPECT_EQ(across.device(), bare_device());
  EXPECT_EQ(across.to_vector<std::int64_t>(), expected.to_vector<std::int64_t>());
  const Tensor other = on_device(across, Device::parse("bare:1"));
  EXPECT_TRUE(other.is_contiguous());
  EXPECT_EQ(other.to_vector<std::int64_t>(), expected.to_vector<std::int64_t>());
  EXPECT_TRUE(on_device(x, bare_device()).shares_storage(x));
  EXPECT_FALSE(to_host(x).shares_storage(x));
}

TEST(Backends, are_printed_with_the_device) {
  std::ostringstream text;
  text << full({2}, 1.5, {.device = bare_device()});
  EXPECT_EQ(text.str(), "tensor([1.5000, 1.5000], device=bare:0)");
}

TEST(Backends, without_a_kernel_refuse_the_op_by_name) {
  const Tensor x = zeros({2, 3}, {.device = bare_device()});
  EXPECT_EQ(error_of([&] { static_cast<void>(relu(x)); }),
            "relu: there is no kernel on bare:0; expected tensors on cpu, which has one of every "
            "op");
  EXPECT_THROW(static_cast<void>(x + x), Unsupported);
  EXPECT_THROW(static_cast<void>(x + 1), Unsupported);
  EXPECT_THROW(x.copy_(x), Unsupported);
  EXPECT_THROW(static_cast<void>(clone(transpose(x, 0, 1))), Unsupported);
  EXPECT_EQ(relu(zeros({0}, {.device = bare_device()})).device(), bare_device());  // nothing to do
}

TEST(Backends, are_not_reached_by_address) {
  const Tensor x = zeros({2}, {.device = bare_device()});
  EXPECT_EQ(error_of([&] { static_cast<void>(x.data<float>()); }),
            "data: the host does not reach the memory of bare:0; got a tensor there, expected "
            "what to_host(x) gives");
}

TEST(Backends, are_not_mixed) {
  const Tensor here = zeros({2}), there = zeros({2}, {.device = bare_device()});
  EXPECT_EQ(error_of([&] { static_cast<void>(here + there); }),
            "add: inputs on different devices; got cpu and bare:0, expected one device");
  EXPECT_THROW(static_cast<void>(there + zeros({2}, {.device = Device::parse("bare:1")})),
               InvalidArgument);
}

TEST(Backends, keep_the_borders_of_microbatches) {
  Tensor x = transpose(on_device(reshape(arange(12), {4, 3}), bare_device()), 0, 1);
  x.get().set_microbatches({.count = 2, .dim = 1});
  for (const char* name : {"cpu", "bare:0", "bare:1"}) {
    EXPECT_EQ(on_device(x, Device::parse(name)).microbatches(), x.microbatches()) << name;
  }
  EXPECT_EQ(to_host(x).microbatches(), x.microbatches());
}

TEST(Backends, are_asked_for_devices_that_there_are) {
  const Tensor x = ones({2});
  EXPECT_THROW(static_cast<void>(on_device(x, {.index = 1})), NotImplementedError);
  const Device before{.type = bare_device().type, .index = -1};
  EXPECT_THROW(static_cast<void>(on_device(x, before)), NotImplementedError);
  const Device meta{.type = DeviceType::meta};
  EXPECT_EQ(on_device(x, meta).device(), meta);
  EXPECT_THROW(transfer(empty({2}, {.device = meta}), x), NotImplementedError);
}

TEST(Backends, do_not_meet_in_a_destination_or_a_gradient) {
  const Tensor here = full({}, 1), there = full({}, 1, {.device = bare_device()});
  EXPECT_EQ(error_of([&] { static_cast<void>(call_into<Cast>(here, {there}, {DType::f32})); }),
            "cast: the destination lies elsewhere; got cpu, expected bare:0");
  EXPECT_THROW(static_cast<void>(call_into<Add>(here, {here, there})), InvalidArgument);
  const Tensor leaf = full({2}, 1, {.device = bare_device(), .requires_grad = true});
  EXPECT_EQ(error_of([&] {
              reshape(leaf, {2, 1}).backward(ones({2, 1}));
            }),
            "backward: the gradient lies elsewhere; got cpu, expected bare:0");
}

TEST(Transfer, takes_dense_tensors_alike) {
  const Tensor there = zeros({2}, {.device = bare_device()});
  transfer(there, tensor({1.F, 2.F}));
  EXPECT_EQ(there.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_THROW(transfer(there, tensor({1.F})), InvalidArgument);
  EXPECT_THROW(transfer(there, tensor<double>({1, 2})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(to_host(zeros({2}, {.device = {.type = DeviceType::meta}}))),
               NotImplementedError);
}

}  // namespace
}  // namespace tessera
