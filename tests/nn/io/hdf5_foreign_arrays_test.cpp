// Row K7: HDF5 files of h5py in which one array is of a type that no tensor has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "nn/io/weights_example.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;

struct Kind {
  const char* name;
  const char* why;
};

constexpr std::array kKinds{Kind{"uint16", "got uint16, expected bool"},
                            Kind{"uint32", "got uint32, expected"},
                            Kind{"uint64", "got uint64, expected"},
                            Kind{"big_uint16", "got uint16, expected"},
                            Kind{"longdouble", "got float80, expected"},
                            Kind{"fixed_text", "got text, expected"},
                            Kind{"text", "got text, expected"},
                            Kind{"compound", "got compound of v, w, x, y, ..., expected"},
                            Kind{"enum", "got enum of ONE, TWO, expected"},
                            Kind{"opaque", "got opaque bytes, expected"},
                            Kind{"reference", "got reference, expected"},
                            Kind{"region", "got reference, expected"},
                            Kind{"list", "got list of float32, expected"},
                            Kind{"array", "got array of float32, expected"},
                            Kind{"bitfield", "got bitfield16, expected"},
                            Kind{"complex", "got compound of r, i, expected"},
                            Kind{"none", "has no shape"},
                            Kind{"nine_dims", "has too many dims; got 9"},
                            Kind{"soft_link", "is a soft or external link"},
                            Kind{"external_link", "is a soft or external link"},
                            Kind{"virtual", "is a virtual dataset"},
                            Kind{"cycle", "is a group that contains itself"},
                            Kind{"lzf", "is compressed by a filter that is not here; got 'lzf'"},
                            Kind{"elsewhere", "is kept in another file"}};

class Hdf5Foreign : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = testing_support::run_command("/usr/bin/python3 " TESSERA_TEST_FOLDER
                                                   "/nn/io/hdf5_foreign_arrays_write.py " +
                                                   folder_.path());
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
  std::string file(const Kind& kind, const std::string& where) {
    return folder_ / (kind.name + ("_" + where) + ".h5");
  }

  testing_support::TemporaryFolder folder_;
};

TEST_F(Hdf5Foreign, what_is_wanted_beside_it_is_loaded) {
  for (const Kind& kind : kKinds) {
    const auto linear = make<Linear>(2, 3);
    const LoadResult result = load_weights(*linear, file(kind, "beside"), {.strict = false});
    EXPECT_THAT(linear->weight.value().to_vector<float>(), ElementsAre(0, 1, 2, 3, 4, 5))
        << kind.name;
    EXPECT_THAT(linear->bias.value().to_vector<float>(), ElementsAre(7, 8, 9)) << kind.name;
    EXPECT_THAT(result.unexpected_keys, ElementsAre("a", "z")) << kind.name;
  }
}

TEST_F(Hdf5Foreign, a_strict_load_finds_its_name_unexpected) {
  for (const Kind& kind : kKinds) {
    const auto linear = make<Linear>(2, 3);
    EXPECT_EQ(error_of<RuntimeError>([&] { load_weights(*linear, file(kind, "beside")); }),
              "load_state_dict(Linear) of '" + file(kind, "beside") +
                  "': 2 problems\n\tunexpected: \"a\", \"z\"")
        << kind.name;
  }
}

TEST_F(Hdf5Foreign, is_listed_and_refused_when_it_is_read) {
  for (const Kind& kind : kKinds) {
    const auto reader = open_array_file(file(kind, "beside"));
    ASSERT_NE(reader->find("z"), nullptr) << kind.name;
    const std::string refusal = reader->find("z")->refusal;
    EXPECT_THAT(refusal, HasSubstr("_beside.h5': 'z' ")) << kind.name;
    EXPECT_THAT(refusal, HasSubstr(kind.why)) << kind.name;
    std::array<std::byte, 4> bytes{};
    EXPECT_EQ(error_of<IoError>([&] { reader->read("z", bytes); }), refusal) << kind.name;
  }
}

TEST_F(Hdf5Foreign, is_refused_by_name_where_it_is_wanted_and_changes_nothing) {
  for (const Kind& kind : kKinds) {
    const auto linear = make<Linear>(2, 3);
    const StateDict before = linear->clone()->state_dict();
    const std::string message =
        error_of<IoError>([&] { load_weights(*linear, file(kind, "wanted")); });
    EXPECT_THAT(message, HasSubstr("_wanted.h5': 'weight' ")) << kind.name;
    EXPECT_THAT(message, HasSubstr(kind.why)) << kind.name;
    EXPECT_TRUE(same_tensors(before, linear->state_dict())) << kind.name;
  }
}

}  // namespace
}  // namespace tessera::nn
