#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>

namespace tessera {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::info); }
  void TearDown() override { set_log_level(before_); }

  LogLevel before_ = log_level();
  std::vector<std::string> lines_;
  LogSinkScope sink_{[this](LogLevel, std::string_view line) { lines_.emplace_back(line); }};
};

std::shared_ptr<Context> rank_context(int rank) {
  auto context = std::make_shared<Context>();
  context->rank = rank;
  context->log_prefix = "[rank " + std::to_string(rank) + "] ";
  return context;
}

using Lines = std::vector<std::string>;

TEST_F(LogTest, LevelDecidesAndIsNamedFromWarningOn) {
  log_debug("a");
  log_info("b ", 1);
  log_warning("c");
  log_error("d");
  EXPECT_EQ(lines_, (Lines{"b 1", "warning: c", "error: d"}));
  lines_.clear();
  set_log_level(LogLevel::debug);
  log_debug("a");
  set_log_level(LogLevel::off);
  log_error("d");
  EXPECT_EQ(lines_, Lines{"a"});
}

TEST_F(LogTest, PrefixIsTheRanks) {
  const ContextScope scope(rank_context(3));
  log_info("hello");
  log_warning("careful");
  EXPECT_EQ(lines_, (Lines{"[rank 3] hello", "[rank 3] warning: careful"}));
}

TEST_F(LogTest, OnceIsOnceARank) {
  for (int rank = 0; rank < 2; ++rank) {
    const ContextScope scope(rank_context(rank));
    for (int i = 0; i < 3; ++i) {
      log_once("grain", LogLevel::info, "said ", i);
      log_once("other", LogLevel::debug, "dropped");
    }
  }
  EXPECT_EQ(lines_, (Lines{"[rank 0] said 0", "[rank 1] said 0"}));
}

TEST_F(LogTest, NestedSinkGivesBackTheOuterOne) {
  int inner = 0;
  {
    const LogSinkScope scope([&](LogLevel, std::string_view) { ++inner; });
    log_info("x");
  }
  log_info("y");
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(lines_, Lines{"y"});
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const ContextScope scope(rank_context(t));
      for (int i = 0; i < 100; ++i) {
        log_info("line ", i);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(lines_.size(), 400U);
}

TEST(Log, WritesWholeLinesToStandardError) {
  testing::internal::CaptureStderr();
  log_error("one");
  log_error("two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: one\nerror: two\n");
}

}  // namespace
}  // namespace tessera
