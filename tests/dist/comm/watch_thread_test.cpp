// A thread that looks after groups, those that its rank left among them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/watch_thread.h>

namespace tessera::dist {
namespace {

using namespace std::chrono_literals;

/// A table whose lines other hosts hear of through this rank.
class CarriedTable final : public HeartbeatTable {
 public:
  CarriedTable() : HeartbeatTable(cells_.data(), failure_, 0, 2, nullptr) {}
  void exchange() override { ++exchanges; }
  [[nodiscard]] bool carries() const override { return !all_left(); }
  std::atomic<int> exchanges = 0;

 private:
  std::array<HeartbeatCell, 2> cells_;
  FailureRecord failure_;
};

/// A group of whose ranks others hear through a table of the test's.
class CarriedGroup final : public CommDecorator {
 public:
  CarriedGroup(std::shared_ptr<Communicator> inner, std::shared_ptr<HeartbeatTable> table)
      : CommDecorator(std::move(inner)), table_(std::move(table)) {}
  std::shared_ptr<HeartbeatTable> heartbeat_table() override { return table_; }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override { return part; }

 private:
  std::shared_ptr<HeartbeatTable> table_;
};

TEST(WatchThread, CarriesTheTableOfAGroupThatItsRankLeftUntilAllHaveLeft) {
  auto table = std::make_shared<CarriedTable>();
  const std::weak_ptr<CarriedTable> carried = table;
  WatchThread thread(100ms);
  auto group = std::make_shared<CarriedGroup>(make_loopback(2).front(), table);
  auto watch = std::make_shared<Watch>(std::move(group), 100ms, table);
  thread.add(watch);
  table->own().left = 1;
  thread.remove(watch, table);
  watch.reset();
  const int before = table->exchanges;
  const std::uint64_t beats = table->own().beats;
  for (int i = 0; i < 500 && table->exchanges < before + 3; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_GE(table->exchanges, before + 3);
  EXPECT_GT(table->own().beats, beats) << "who hears of rank 1 through it takes it for dead";
  table->cell(1).left = 1;
  table.reset();
  for (int i = 0; i < 500 && !carried.expired(); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(carried.expired());
}

}  // namespace
}  // namespace tessera::dist
