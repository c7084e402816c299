// A vector that begins in its own object does what std::vector does.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <tessera/core/base/inline_vector.h>

namespace tessera {
namespace {

using Strings = InlineVector<std::string, 4>;

void expect_equal(const Strings& a, const std::vector<std::string>& b) {
  EXPECT_EQ(std::vector<std::string>(a.begin(), a.end()), b);
}

TEST(InlineVector, does_what_a_vector_does) {
  std::minstd_rand random(7);
  Strings a;
  std::vector<std::string> b;
  for (int step = 0; step < 3000; ++step) {
    const std::string text(random() % 40, static_cast<char>('a' + random() % 26));
    switch (random() % 8) {
      case 0:
        a.resize(step % 9), b.resize(static_cast<std::size_t>(step % 9));
        break;
      case 1:
        a = Strings(a), a = Strings(std::move(a));
        break;
      case 2:
        if (!b.empty()) {
          a.pop_back(), b.pop_back();
        }
        break;
      case 3:
        if (random() % 4 == 0) {
          a.clear(), b.clear();
        }
        break;
      default:
        a.push_back(text), b.push_back(text);
    }
    expect_equal(a, b);
  }
}

TEST(InlineVector, takes_an_element_of_its_own) {
  Strings a;
  std::vector<std::string> b;
  for (int i = 0; i < 20; ++i) {
    const std::string text(30, static_cast<char>('a' + i));
    a.emplace_back(i % 2 == 0 ? text : a[0]);
    b.emplace_back(i % 2 == 0 ? text : b[0]);
    expect_equal(a, b);
  }
}

}  // namespace
}  // namespace tessera
