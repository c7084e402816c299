// Nothing that PyTorch recorded is left out, and nothing is compared with no record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "oracle/support/counterparts.h"
#include "oracle/support/replay.h"

namespace tessera::oracle {
namespace {

template <class Entry>
void expect_pairs() {
  EXPECT_THAT(fixture()[Entry::kSection].names(),
              testing::UnorderedElementsAreArray(Counterparts<Entry>::names()))
      << Entry::kSection;
}

TEST(Oracle, every_record_has_a_counterpart_and_the_other_way_round) {
  expect_pairs<Layer>();
  expect_pairs<Optimizer>();
  expect_pairs<Schedule>();
  expect_pairs<Initialiser>();
  EXPECT_EQ(fixture().names(),
            (std::vector<std::string>{"initialisers", "layers", "optimizers", "schedules"}));
}

TEST(Oracle, all_gradients_are_compared_but_these) {
  std::vector<std::string> others;
  for (const auto& [kind, cases] : fixture()["layers"].children) {
    for (const auto& [name, record] : cases.children) {
      if (!LayerReplay(record, Layer()).compares_gradients(kBf16)) {
        others.push_back(kind + "/" + name);
      }
    }
  }
  std::cout << others.size()
            << " cases whose gradients are not compared in bf16, which may fall on "
            << "the other side of a kink: " << testing::PrintToString(others) << '\n';
  EXPECT_THAT(others, testing::ElementsAre("TransformerEncoderLayer/plain",
                                           "TransformerEncoderLayer/batch_first",
                                           "TransformerDecoderLayer/plain",
                                           "TransformerDecoderLayer/batch_first", "RNN/relu"));
}

TEST(Oracle, the_fixture_names_the_version_of_pytorch) {
  EXPECT_THAT(fixture().attributes.text("pytorch"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\..*"));
}

}  // namespace
}  // namespace tessera::oracle
