#include <tessera/core/base/bit_facts.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(BitFacts, are_known_while_they_live_and_sorted_by_name) {
  const auto before = bit_facts();
  {
    const BitFact last{"z of a test", [] { return std::string("1"); }};
    const BitFact first{"a of a test", [] { return std::string("2"); }};
    auto expected = before;
    expected.emplace_back("z of a test", "1");
    expected.emplace_back("a of a test", "2");
    std::ranges::sort(expected);
    EXPECT_EQ(bit_facts(), expected);
  }
  EXPECT_EQ(bit_facts(), before);
}

TEST(BitFacts, name_the_instruction_set_and_who_computes_products_and_convolutions) {
  const auto facts = bit_facts();
  for (const char* name : {"convolutions", "instruction set", "matrix products"}) {
    EXPECT_TRUE(std::ranges::any_of(facts, [&](const auto& fact) {
      return fact.first == name && !fact.second.empty();
    })) << name;
  }
}

}  // namespace
}  // namespace tessera
