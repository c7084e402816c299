#include <tessera/core/base/numerics_fingerprint.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(NumericsFingerprint, are_known_while_they_live_and_sorted_by_name) {
  const auto before = numerics_fingerprint();
  {
    const NumericsFact last{"z of a test", [] { return std::string("1"); }};
    const NumericsFact first{"a of a test", [] { return std::string("2"); }};
    auto expected = before;
    expected.emplace_back("z of a test", "1");
    expected.emplace_back("a of a test", "2");
    std::ranges::sort(expected);
    EXPECT_EQ(numerics_fingerprint(), expected);
  }
  EXPECT_EQ(numerics_fingerprint(), before);
}

TEST(NumericsFingerprint, name_the_instruction_set_and_who_computes_products_and_convolutions) {
  const auto facts = numerics_fingerprint();
  for (const char* name : {"convolutions", "instruction set", "matrix products"}) {
    EXPECT_TRUE(std::ranges::any_of(facts, [&](const auto& fact) {
      return fact.first == name && !fact.second.empty();
    })) << name;
  }
}

}  // namespace
}  // namespace tessera
