#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/value_bytes.h>

#include "nn/io/weights_example.h"

namespace tessera::nn {
namespace {

Value example() {
  Value::List list{Value(), true, 7, 2.5, "text", Value::Bytes{std::byte{9}}};
  return Value::Map{{"list", list}, {"tensor", pattern(DType::bf16, 3)}, {"", Value::Map()}};
}

TEST(ValueBytes, give_back_every_kind) {
  const Value value = value_from_bytes(to_bytes(example()), "test");
  EXPECT_EQ(to_bytes(value), to_bytes(example()));
  const auto& list = value.get<Value::Map>().at("list").get<Value::List>();
  EXPECT_TRUE(list.at(0).empty());
  EXPECT_TRUE(list.at(1).get<bool>());
  EXPECT_EQ(list.at(2).get<std::int64_t>(), 7);
  EXPECT_EQ(list.at(3).get<double>(), 2.5);
  EXPECT_EQ(list.at(4).get<std::string>(), "text");
  EXPECT_EQ(list.at(5).get<Value::Bytes>().size(), 1U);
  const Tensor tensor = value.get<Value::Map>().at("tensor").tensor();
  EXPECT_TRUE(same_tensors({{"t", tensor}}, {{"t", pattern(DType::bf16, 3)}}));
}

TEST(ValueBytes, refuse_every_cut_and_what_follows) {
  std::vector<std::byte> bytes = to_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)value_from_bytes(std::span(bytes).first(size), "test"), IoError) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW((void)value_from_bytes(bytes, "test"), IoError);
}

TEST(ValueBytes, survive_every_changed_byte) {
  std::vector<std::byte> bytes = to_bytes(example());
  for (std::byte& byte : bytes) {
    for (const int mask : {1, 0x80, 0xff}) {
      byte ^= static_cast<std::byte>(mask);
      try {
        (void)value_from_bytes(bytes, "test");
      } catch (const IoError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("test: "));
      }
      byte ^= static_cast<std::byte>(mask);
    }
  }
}

TEST(ValueBytes, refuse_deep_nesting) {
  Value value;
  for (int i = 0; i < 200; ++i) {
    value = Value::List{value};
  }
  std::vector<std::byte> bytes = to_bytes(value);
  EXPECT_EQ(to_bytes(value_from_bytes(bytes, "test")), bytes);
  EXPECT_THROW((void)to_bytes(Value::List{value}), Unsupported);
  const std::vector<std::byte> one_more(bytes.begin() + 8, bytes.begin() + 17);
  bytes.insert(bytes.begin() + 8, one_more.begin(), one_more.end());
  EXPECT_THROW((void)value_from_bytes(bytes, "test"), IoError);
}

TEST(ValueBytes, refuse_objects) {
  EXPECT_THROW((void)to_bytes(Value(Value::Object{1})), Unsupported);
  const Value inside =
      Value::Map{{"seen", Value::List{7, Value::Map{{"last", Value(Value::Object{1})}}}}};
  try {
    (void)to_bytes(inside);
    ADD_FAILURE() << "written";
  } catch (const Unsupported& error) {
    EXPECT_STREQ(error.what(), "to_bytes: \"seen[1].last\": an object cannot be written");
  }
}

}  // namespace
}  // namespace tessera::nn
