// Row N1: problems of a load through a name map are told by the file's names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/linear.h>

#include "nn/io/safetensors_by_hand.h"
#include "support/error_of.h"
#include "support/simulated_file_system.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;

class FileNames : public testing::Test {
 protected:
  void SetUp() override {
    SafetensorsByHand file;
    file.add_floats("dense/kernel", "[2,4]", std::vector<float>(8));
    file.add_floats("dense/bias", "[3]", std::vector<float>(3));
    file.add_floats("dense/scale", "[1]", {1});
    file.write("a.safetensors");
  }
  LoadResult load(Module& module, const LoadOptions& options = {}) {
    return import_weights(module, "a.safetensors", Format::safetensors, map_, options);
  }
  std::string error_of(Module& module) {
    return testing_support::error_of<RuntimeError>([&] { load(module); });
  }

  SimulatedFileSystem files_;
  FileSystemScope scope_{files_};
  NameMap map_{{{R"(^dense\.kernel$)", "weight", true}, {R"(^dense\.)", ""}}};
};

TEST_F(FileNames, are_in_the_errors) {
  EXPECT_EQ(error_of(*make<Linear>(2, 3)),
            "load_state_dict(Linear) of 'a.safetensors': 2 problems\n\tunexpected: \"dense/scale\" "
            "(as \"scale\")\n\t"
            "shape of \"dense/kernel\" (transposed, as \"weight\"): file (4, 2), module (3, 2)");
}

TEST_F(FileNames, of_what_is_missing_are_the_modules) {
  const auto model = make<Linear>(2, 4);
  model->register_buffer("more", model->bias.value().detach());
  EXPECT_EQ(
      error_of(*model),
      "load_state_dict(Linear) of 'a.safetensors': 3 problems\n\tmissing: \"more\"\n\tunexpected: "
      "\"dense/scale\" (as \"scale\")\n\tshape of \"dense/bias\" (as \"bias\"): file (3,), "
      "module (4,)");
}

TEST_F(FileNames, are_those_of_unexpected_keys) {
  map_.rules.push_back({"^weight$", "kernel"});
  const auto model = make<Linear>(2, 3);
  map_.rules.push_back({"^scale$", "dense.scale"});  // as the file has it, but for the slash
  const LoadResult result = load(*model, {.strict = false});
  EXPECT_THAT(result.missing_keys, ElementsAre("weight"));
  EXPECT_THAT(result.unexpected_keys, ElementsAre("dense/kernel", "dense/scale"));
}

}  // namespace
}  // namespace tessera::nn
