// Layers and losses against PyTorch's: values, gradients, printed forms, initial values.
#include <gtest/gtest.h>

#include "oracle/support/replay.h"

namespace tessera::oracle {
namespace {

class Layers : public testing::TestWithParam<std::string> {
 protected:
  /// Calls `expect` for the cases of a class that have (or have no) initial values.
  template <class F>
  void each_case(bool begun, const F& expect) {
    const Layer& layer = Counterparts<Layer>::all().at(GetParam());
    for (const auto& [name, record] : fixture()["layers"][GetParam()].children) {
      if (record.has("begun") == begun) {
        SCOPED_TRACE(name);
        expect(LayerReplay(record, layer));
      }
    }
  }
};

TEST_P(Layers, compute_in_f64_what_pytorch_does) {
  each_case(false, [](const LayerReplay& replay) { replay.expect_near(kF64); });
}

TEST_P(Layers, err_in_f32_at_most_twice_as_pytorch_does) {
  each_case(false, [](const LayerReplay& replay) { replay.expect_near(kF32); });
}

TEST_P(Layers, err_in_bf16_at_most_twice_as_pytorch_does) {
  each_case(false, [](const LayerReplay& replay) { replay.expect_near(kBf16); });
}

TEST_P(Layers, are_printed_and_named_as_in_pytorch) {
  if (Counterparts<Layer>::all().at(GetParam()).build) {
    const auto expect = [](const LayerReplay& replay) { replay.expect_same_form(); };
    each_case(false, expect);
    each_case(true, expect);
  }
}

TEST_P(Layers, come_back_from_bytes) {
  if (Counterparts<Layer>::all().at(GetParam()).build) {
    const auto expect = [](const LayerReplay& replay) { replay.expect_same_from_bytes(); };
    each_case(false, expect);
    each_case(true, expect);
  }
}

TEST_P(Layers, begin_as_in_pytorch) {
  each_case(true, [](const LayerReplay& replay) { replay.expect_same_beginning(); });
}

INSTANTIATE_TEST_SUITE_P(Oracle, Layers, testing::ValuesIn(Counterparts<Layer>::names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tessera::oracle
