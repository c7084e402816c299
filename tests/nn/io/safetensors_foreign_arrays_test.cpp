// Row N1: safetensors files, written by the format's description, in which one array is of a dtype
// that no tensor has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/safetensors.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "nn/io/safetensors_by_hand.h"
#include "nn/io/weights_example.h"
#include "support/error_of.h"
#include "support/simulated_file_system.h"

namespace tessera::nn {
namespace {

using tessera::detail::concat;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;

struct Foreign {
  const char* dtype;
  std::size_t bits;
};

constexpr std::array kForeign{Foreign{"U16", 16},    Foreign{"U32", 32},    Foreign{"U64", 64},
                              Foreign{"F8_E4M3", 8}, Foreign{"F8_E5M2", 8}, Foreign{"F8_E8M0", 8},
                              Foreign{"F6_E2M3", 6}, Foreign{"F6_E3M2", 6}, Foreign{"F4", 4},
                              Foreign{"C128", 128},  Foreign{"F32_NEXT", 8}};

/// Eight elements.
std::string bytes_of(const Foreign& foreign) {
  return std::string(foreign.bits, '\1');
}

class SafetensorsForeign : public testing::Test {
 protected:
  static SafetensorsByHand linear_with(const Foreign& foreign) {
    SafetensorsByHand file;
    file.add("a", foreign.dtype, "[8]", bytes_of(foreign));
    file.add_floats("weight", "[3,2]", {0, 1, 2, 3, 4, 5});
    file.add_floats("bias", "[3]", {7, 8, 9});
    file.add("z", foreign.dtype, "[8]", bytes_of(foreign));
    return file;
  }

  SimulatedFileSystem files_;
  FileSystemScope scope_{files_};
};

TEST_F(SafetensorsForeign, what_is_wanted_beside_it_is_loaded) {
  for (const Foreign& foreign : kForeign) {
    linear_with(foreign).write("a.safetensors");
    const auto linear = make<Linear>(2, 3);
    const LoadResult result = load_weights(*linear, "a.safetensors", {.strict = false});
    EXPECT_THAT(linear->weight.value().to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9));
    EXPECT_THAT(result.unexpected_keys, ElementsAre("a", "z")) << foreign.dtype;
    EXPECT_EQ(error_of<RuntimeError>([&] { load_weights(*linear, "a.safetensors"); }),
              "load_state_dict(Linear) of 'a.safetensors': 2 problems\n\tunexpected: \"a\", \"z\"");
  }
}

TEST_F(SafetensorsForeign, a_name_map_may_leave_it_out) {
  linear_with(kForeign[0]).write("a.safetensors");
  const auto linear = make<Linear>(2, 3);
  const NameMap without{{{"^[az]$", ""}}};
  import_weights(*linear, "a.safetensors", Format::safetensors, without);
  EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9));
}

TEST_F(SafetensorsForeign, is_listed_and_refused_when_it_is_read) {
  for (const Foreign& foreign : kForeign) {
    linear_with(foreign).write("a.safetensors");
    const auto reader = open_safetensors("a.safetensors");
    ASSERT_EQ(reader->arrays().size(), 4U);
    const std::string refusal = reader->find("z")->refusal;
    EXPECT_EQ(
        refusal,
        concat("load: 'a.safetensors': 'z' has a dtype that no tensor has; got '", foreign.dtype,
               "', expected BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64 or C64"));
    std::array<std::byte, 4> bytes{};
    EXPECT_EQ(error_of<IoError>([&] { reader->read("z", bytes); }), refusal);
  }
}

TEST_F(SafetensorsForeign, is_refused_by_name_where_it_is_wanted_and_changes_nothing) {
  for (const Foreign& foreign : kForeign) {
    SafetensorsByHand file;
    file.add_floats("bias", "[3]", {7, 8, 9});
    file.add("weight", foreign.dtype, "[8]", bytes_of(foreign));
    file.write("a.safetensors");
    const auto linear = make<Linear>(2, 3);
    const StateDict before = linear->clone()->state_dict();
    EXPECT_THAT(error_of<IoError>([&] { load_weights(*linear, "a.safetensors"); }),
                HasSubstr(concat("'a.safetensors': 'weight' has a dtype that no tensor has; got '",
                                 foreign.dtype, "'")));
    EXPECT_TRUE(same_tensors(before, linear->state_dict()));
  }
}

TEST_F(SafetensorsForeign, is_refused_where_another_name_of_it_is_wanted) {
  SafetensorsByHand file;
  file.members = R"("__metadata__":{"bias":"z"})";
  file.add_floats("weight", "[3,2]", {0, 1, 2, 3, 4, 5});
  file.add("z", "U16", "[3]", "123456");
  file.write("a.safetensors");
  const auto linear = make<Linear>(2, 3);
  EXPECT_THAT(error_of<IoError>([&] { load_weights(*linear, "a.safetensors"); }),
              HasSubstr("'z' has a dtype that no tensor has; got 'U16'"));
}

TEST_F(SafetensorsForeign, more_dims_than_a_tensor_has_are_listed_too) {
  SafetensorsByHand file;
  file.add_floats("a", "[1,1,1,1,1,1,1,1,1]", {1});
  file.add_floats("weight", "[3,2]", {0, 1, 2, 3, 4, 5});
  file.add_floats("bias", "[3]", {7, 8, 9});
  file.write("a.safetensors");
  const auto linear = make<Linear>(2, 3);
  load_weights(*linear, "a.safetensors", {.strict = false});
  EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9));
  EXPECT_THAT(open_safetensors("a.safetensors")->find("a")->refusal, HasSubstr("more than 8 dims"));
}

}  // namespace
}  // namespace tessera::nn
