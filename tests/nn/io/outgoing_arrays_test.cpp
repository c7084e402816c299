// What files of weights and checkpoints share: tensors on their way to a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/outgoing_arrays.h>
#include <tessera/nn/layers/linear.h>

#include "support/error_of.h"

namespace tessera::nn {
namespace {

using testing_support::error_of;

TEST(OutgoingArrays, write_a_slot_once_each_way) {
  const auto linear = make<Linear>(2, 3);
  const Slot& slot = *linear->weight.slot();
  OutgoingArrays arrays;
  EXPECT_TRUE(arrays.add("a", slot.value, slot));
  EXPECT_FALSE(arrays.add("b", slot.value, slot));
  EXPECT_TRUE(arrays.add("c", slot.value, slot, true));
  EXPECT_FALSE(arrays.add("d", slot.value, slot, true));
  const auto& all = arrays.contents().arrays;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].target, "a");
  EXPECT_EQ(all[2].shape, (Shape{2, 3}));
  EXPECT_EQ(all[3].target, "c");
}

TEST(OutgoingArrays, keep_their_memory_when_they_are_moved) {
  OutgoingArrays arrays;
  arrays.add("a", full({2}, 5));
  arrays.add_value("b", "text", "b");
  const OutgoingArrays moved = std::move(arrays);
  EXPECT_EQ(static_cast<const float*>(moved.contents().arrays[0].data)[1], 5);
  EXPECT_EQ(moved.contents().arrays[1].dtype, DType::u8);
}

TEST(OutgoingArrays, name_what_has_no_value) {
  const auto lazy = make<Linear>(kInferred, 3);
  const auto add = [](const Slot& slot) {
    return error_of([&] { OutgoingArrays().add("model/weight", slot.value, slot); });
  };
  EXPECT_EQ(add(*lazy->weight.slot()),
            "save: \"model/weight\": uninitialised; the first call of its module tells its shape");
  const auto linear = make<Linear>(2, 3);
  linear->to_empty(Device{DeviceType::meta});
  EXPECT_EQ(add(*linear->weight.slot()),
            "save: \"model/weight\": tensor has no data (meta); use to_empty()");
}

}  // namespace
}  // namespace tessera::nn
