#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/health.h>

namespace tessera::dist {
namespace {

TEST(Health, of_a_rank_that_fails_while_another_still_writes_why_has_its_own_cause) {
  FailureRecord record;
  record.state = 1;  // another rank was first
  Health health(record, 0, nullptr, nullptr);
  EXPECT_EQ(health.cause(), nullptr);
  health.fail(std::make_exception_ptr(Desync("mine")));
  ASSERT_NE(health.cause(), nullptr);
  EXPECT_EQ(text_of(health.cause()), "mine");
}

TEST(Health, is_that_of_the_rank_that_failed_first) {
  FailureRecord record;
  Health first(record, 0, nullptr, nullptr);
  Health second(record, 1, nullptr, nullptr);
  first.fail(std::make_exception_ptr(Desync("first")));
  second.fail(std::make_exception_ptr(Desync("second")));
  EXPECT_EQ(text_of(second.cause()), "first");
  EXPECT_TRUE(first.is_own());
  EXPECT_FALSE(second.is_own());
}

}  // namespace
}  // namespace tessera::dist
