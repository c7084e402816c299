// Nothing that PyTorch recorded is left out, and nothing is compared with no record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/support/counterparts.h"

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

TEST(Oracle, the_fixture_names_the_version_of_pytorch) {
  EXPECT_THAT(fixture().attributes.text("pytorch"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\..*"));
}

}  // namespace
}  // namespace tessera::oracle
