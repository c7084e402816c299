#include <tessera/core/base/simulated_network.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/error.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using std::chrono::hours;
using testing::HasSubstr;
using testing_support::error_of;

class SimulatedNetworks : public testing::Test {
 protected:
  void connect() {
    listener_ = b_->listen({"b", 0});
    here_ = a_->connect(listener_->address(), Time::max());
    there_ = listener_->accept(Time::max());
  }

  SimulatedClock time_;
  ClockScope scope_{time_};
  SimulatedNetwork wires_{3};
  std::shared_ptr<HostNetwork> a_ = wires_.host("a");
  std::shared_ptr<HostNetwork> b_ = wires_.host("b");
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Connection> here_;
  std::unique_ptr<Connection> there_;
  std::vector<std::byte> byte_ = std::vector<std::byte>(1);
};

TEST_F(SimulatedNetworks, BytesWaitWhileAWireIsCut) {
  connect();
  wires_.cut("b", "a");
  here_->send(byte_, Time::max());
  EXPECT_THROW(static_cast<void>(there_->receive(byte_, time_.now())), Timeout);
  EXPECT_THROW(static_cast<void>(a_->connect(listener_->address(), time_.now())), Timeout);
  wires_.join("a", "b");
  EXPECT_EQ(there_->receive(byte_, time_.now()), 1U);
}

TEST_F(SimulatedNetworks, TheDeathOfAProcessReachesItsPeers) {
  connect();
  wires_.kill("b");
  const std::string reset = "receive: 'b:49152': Connection reset by peer";
  EXPECT_EQ(error_of<IoError>([&] { static_cast<void>(here_->receive(byte_, Time::max())); }),
            reset);
  EXPECT_THAT(error_of<IoError>([&] { here_->send(byte_, Time::max()); }),
              HasSubstr("reset by peer"));
  EXPECT_THAT(error_of<IoError>([&] { there_->send(byte_, Time::max()); }),
              HasSubstr("was killed"));
  EXPECT_THAT(error_of<IoError>([&] { static_cast<void>(listener_->accept(Time::max())); }),
              HasSubstr("accept: 'b:49152': this process was killed"));
  EXPECT_THAT(error_of<IoError>([&] {
                a_->connect({"b", 49152}, Time::max());
              }),
              HasSubstr("refused"));
  const auto again = b_->listen({"b", 49152});  // another process
  EXPECT_NE(a_->connect(again->address(), Time::max()), nullptr);
}

TEST_F(SimulatedNetworks, AProcessThatIsKilledConnectsNoMore) {
  const auto listener = b_->listen({"b", 0});
  wires_.cut("a", "b");
  std::thread other([&] {
    while (time_.waiting() == 0) {
      std::this_thread::yield();
    }
    wires_.kill("a");
  });
  EXPECT_THAT(error_of<IoError>([&] { a_->connect(listener->address(), Time::max()); }),
              HasSubstr("connect: 'b:49152': this process was killed"));
  other.join();
}

TEST_F(SimulatedNetworks, NobodyHearsOfADeathBehindACut) {
  connect();
  wires_.cut("a", "b");
  wires_.kill("b");
  EXPECT_THROW(static_cast<void>(here_->receive(byte_, time_.now())), Timeout);
  wires_.join("a", "b");
  EXPECT_THROW(static_cast<void>(here_->receive(byte_, time_.now())), IoError);
}

TEST(SimulatedDelays, AreOfTheProcessClock) {
  SimulatedClock time;
  const ClockScope scope(time);
  SimulatedNetwork wires(5, {.least = hours(2), .most = hours(3)});
  const auto a = wires.host("a"), b = wires.host("b");
  const auto listener = b->listen({"", 0});
  std::thread other([&] {
    while (time.waiting() == 0) {
      std::this_thread::yield();
    }
    time.advance(hours(3));
  });
  const auto here = a->connect({"b", listener->address().port}, Time::max());
  other.join();
  const auto there = listener->accept(time.now());
  std::vector<std::byte> byte(1);
  here->send(byte, Time::max());
  EXPECT_THROW(static_cast<void>(there->receive(byte, time.now())), Timeout);
  time.advance(hours(3));
  EXPECT_EQ(there->receive(byte, time.now()), 1U);
}

/// Sizes of the pieces in which a thousand bytes arrive.
std::vector<std::size_t> pieces(std::uint64_t seed) {
  SimulatedNetwork wires(seed);
  const auto a = wires.host("a"), b = wires.host("b");
  const auto listener = b->listen({"b", 7});
  const auto here = a->connect({"b", 7}, Time::max());
  const auto there = listener->accept(Time::max());
  std::vector<std::byte> bytes(1000);
  here->send(bytes, Time::max());
  here->end();
  std::vector<std::size_t> sizes;
  while (const std::size_t got = there->receive(bytes, Time::max())) {
    sizes.push_back(got);
  }
  return sizes;
}

TEST(SimulatedPieces, DependOnTheSeedAlone) {
  EXPECT_EQ(pieces(1), pieces(1));
  EXPECT_NE(pieces(1), pieces(2));
  EXPECT_GT(pieces(1).size(), 1U);
}

}  // namespace
}  // namespace tessera
