#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/trace.h>

#include "support/simulated_clock.h"

namespace tessera {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

class TraceTest : public testing::Test {
 protected:
  TraceTest()
      : path_(std::filesystem::temp_directory_path() /
              ("tessera_trace_" + std::to_string(getpid()) + ".json")) {}
  void TearDown() override {
    if (tracing()) {
      stop_trace();
    }
    std::filesystem::remove(path_);
  }

  // The events of the given phase, in the order of the file.
  std::vector<json> stop_and_read(const std::string& phase) {
    stop_trace();
    file_ = json::parse(std::ifstream(path_));
    std::vector<json> found;
    for (const json& event : file_.at("traceEvents")) {
      if (event.at("ph") == phase) {
        found.push_back(event);
      }
    }
    return found;
  }

  std::filesystem::path path_;
  json file_;
  SimulatedClock time_;
  ClockScope scope_{time_};
};

TEST_F(TraceTest, RangesNestAndHaveTheirTimes) {
  time_.advance(nanoseconds(1234));
  start_trace(path_);
  {
    TraceRange outer("outer", "test");
    time_.advance(microseconds(5));
    {
      const TraceRange inner(std::string("in") + "ner", "test");
      time_.advance(nanoseconds(7001));
    }
    outer.set("bytes", 1LL << 40);
    time_.advance(microseconds(1));
  }
  const auto ranges = stop_and_read("X");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0]["name"], "outer");
  EXPECT_EQ(ranges[0]["cat"], "test");
  EXPECT_DOUBLE_EQ(ranges[0]["ts"], 1.234);
  EXPECT_DOUBLE_EQ(ranges[0]["dur"], 13.001);
  EXPECT_EQ(ranges[0]["args"]["bytes"], 1LL << 40);
  EXPECT_EQ(ranges[1]["name"], "inner");
  EXPECT_DOUBLE_EQ(ranges[1]["ts"], 6.234);
  EXPECT_DOUBLE_EQ(ranges[1]["dur"], 7.001);
  EXPECT_EQ(ranges[0]["tid"], ranges[1]["tid"]);
}

TEST_F(TraceTest, NothingIsKeptWhileOff) {
  { const TraceRange range("before"); }
  trace_instant("before");
  auto early = std::make_unique<TraceRange>("before");
  start_trace(path_);
  early.reset();
  auto late = std::make_unique<TraceRange>("open at the end");
  stop_trace();
  start_trace(path_);
  late.reset();  // began in the trace before
  EXPECT_TRUE(stop_and_read("X").empty());
  EXPECT_FALSE(tracing());
}

TEST_F(TraceTest, RanksAreProcessesAndThreadsHaveNames) {
  start_trace(path_);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([rank] {
      auto context = std::make_shared<Context>();
      context->rank = rank;
      const ContextScope scope(context);
      name_this_thread("main of " + std::to_string(rank));
      const TraceRange range("work");
    });
  }
  for (auto& thread : threads) {
    thread.join();  // their buffers outlive them
  }
  const auto names = stop_and_read("M");
  std::map<std::pair<std::string, int>, std::string> found;
  for (const json& name : names) {
    if (name["args"].contains("name")) {
      found[{name["name"], name["pid"]}] = name["args"]["name"];
    }
  }
  EXPECT_EQ((found[{"process_name", 0}]), "rank 0");
  EXPECT_EQ((found[{"process_name", 1}]), "rank 1");
  EXPECT_EQ((found[{"thread_name", 0}]), "main of 0");
  EXPECT_EQ((found[{"thread_name", 1}]), "main of 1");
}

TEST_F(TraceTest, AsyncRangesEndOnOtherThreads) {
  start_trace(path_);
  AsyncTraceRange first("bucket 0", "comm");
  AsyncTraceRange second("bucket 1", "comm");
  first.set("bytes", 4096);
  time_.advance(microseconds(3));
  std::thread([&] { second.end(); }).join();
  time_.advance(microseconds(2));
  std::thread([moved = std::move(first)]() mutable { moved.end(); }).join();
  stop_trace();
  const json file = json::parse(std::ifstream(path_));
  std::map<int, std::vector<json>> by_id;
  for (const json& event : file["traceEvents"]) {
    if (event.contains("id")) {
      by_id[event["id"]].push_back(event);
    }
  }
  ASSERT_EQ(by_id.size(), 2U);
  for (const auto& [id, ends] : by_id) {
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(ends[0]["ph"], "b");
    EXPECT_EQ(ends[1]["ph"], "e");
    EXPECT_EQ(ends[0]["name"], ends[1]["name"]);
    EXPECT_EQ(ends[0]["cat"], ends[1]["cat"]);
    const bool is_first = ends[0]["name"] == "bucket 0";
    EXPECT_DOUBLE_EQ(ends[1]["ts"].get<double>() - ends[0]["ts"].get<double>(), is_first ? 5 : 3);
    EXPECT_EQ(ends[0].contains("args"), is_first);
  }
}

TEST_F(TraceTest, InstantsAndCounters) {
  start_trace(path_);
  trace_instant("saved", "checkpoint");
  trace_counter("loss", 2.5);
  time_.advance(microseconds(1));
  trace_counter("loss", 0.1);
  const auto counters = stop_and_read("C");
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters[0]["args"]["value"], 2.5);
  EXPECT_EQ(counters[1]["args"]["value"], 0.1);
}

TEST_F(TraceTest, AnyNameMakesAValidFile) {
  const std::string name = "a \"quoted\" \\ back\nnew line \t tab \x01 and \xC3\xA9";
  start_trace(path_);
  trace_instant(name);
  trace_counter("loss", std::numeric_limits<double>::quiet_NaN());
  const auto instants = stop_and_read("i");
  ASSERT_EQ(instants.size(), 1U);
  EXPECT_EQ(instants[0]["name"], name);
}

TEST_F(TraceTest, StartAndStopTakeTurns) {
  EXPECT_THROW(stop_trace(), InvalidArgument);
  start_trace(path_);
  EXPECT_THROW(start_trace("elsewhere"), InvalidArgument);
  stop_trace();
  start_trace("/no/such/folder/trace.json");
  EXPECT_THROW(stop_trace(), IoError);
  EXPECT_FALSE(tracing());
}

TEST_F(TraceTest, ThreadsMayRecordWhileItStartsAndStops) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        const TraceRange range("busy");
        trace_counter("n", 1);
        std::this_thread::sleep_for(microseconds(20));
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    start_trace(path_);
    std::this_thread::yield();
    stop_and_read("X");
  }
  stop = true;
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace tessera
