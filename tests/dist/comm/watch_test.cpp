#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/watch.h>

namespace tessera::dist {
namespace {

/// Done when told so.
class Told final : public WorkState {
 public:
  bool wait_until(std::chrono::steady_clock::time_point) override { return done(); }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::exception_ptr error() const override { return nullptr; }
  [[nodiscard]] std::chrono::nanoseconds duration() const override { return {}; }
  void end() { done_ = true; }

 private:
  std::atomic<bool> done_{false};
};

/// Starts work after work, each ended when the next one starts, until told to stop.
void keep_working(Watch& watch, const std::atomic<bool>& stop) {
  auto previous = std::make_shared<Told>();
  while (!stop) {
    const auto next = std::make_shared<Told>();
    Watch::Entry entry;
    entry.work = Work(next);
    previous->end();
    watch.watch(std::move(entry));
    previous = next;
  }
  previous->end();
}

TEST(Watch, never_blames_collectives_that_follow_each_other) {
  run_ranks(1, [](Communicator& comm) {
    Watch watch(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}),
                std::chrono::minutes(10));
    std::atomic<bool> stop = false;
    std::thread worker([&] { keep_working(watch, stop); });
    for (int i = 0; i < 200'000 && !comm.board()->failure().written(); ++i) {
      watch.look(clock().now());
    }
    stop = true;
    worker.join();
    EXPECT_FALSE(comm.board()->failure().written()) << comm.board()->failure().text;
  });
}

}  // namespace
}  // namespace tessera::dist
