// What every HostNetwork promises, of the real one over loopback and of the simulated one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/network.h>
#include <tessera/core/base/simulated_network.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing_support::error_of;

Time soon() {
  return clock().now() + milliseconds(30);
}

Time later() {
  return clock().now() + std::chrono::seconds(30);
}

std::vector<std::byte> random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(n);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

/// Two hosts, or one twice.
struct Hosts {
  SimulatedNetwork wires{7, {.least = Duration{0}, .most = std::chrono::microseconds(200)}};
  std::shared_ptr<HostNetwork> kept[2];
  HostNetwork* here = nullptr;
  HostNetwork* there = nullptr;
  std::string name;  ///< of `there`
};

struct Ends {
  std::unique_ptr<Connection> here;
  std::unique_ptr<Connection> there;
};

class Networks : public testing::TestWithParam<std::string> {
 protected:
  Networks() {
    if (GetParam() == "simulated") {
      hosts_.kept[0] = hosts_.wires.host("a"), hosts_.kept[1] = hosts_.wires.host("b");
      hosts_.here = hosts_.kept[0].get(), hosts_.there = hosts_.kept[1].get();
      hosts_.name = "b";
    } else {
      hosts_.here = hosts_.there = &network();
      hosts_.name = GetParam();
    }
  }
  std::unique_ptr<Listener> listen() { return hosts_.there->listen({hosts_.name, 0}); }
  Ends connect(Listener& listener) {
    auto here = hosts_.here->connect(listener.address(), later());
    return {std::move(here), listener.accept(later())};
  }

  Hosts hosts_;
};

INSTANTIATE_TEST_SUITE_P(, Networks, testing::Values("127.0.0.1", "localhost", "simulated"),
                         [](const auto& tested) {
                           return tested.param == "127.0.0.1" ? "numbers" : tested.param;
                         });

TEST_P(Networks, CarryBytesBothWaysAtOnce) {
  const auto listener = listen();
  const Ends ends = connect(*listener);
  const auto sent = random_bytes(1 << 20, 1), answer = random_bytes(1 << 20, 2);
  std::vector<std::byte> got(sent.size()), back(answer.size());
  std::thread other([&] { receive_all(*ends.there, got, later()); });
  std::thread answering([&] { ends.there->send(answer, later()); });
  std::thread reading([&] { receive_all(*ends.here, back, later()); });
  ends.here->send(sent, later());
  other.join(), answering.join(), reading.join();
  EXPECT_EQ(got, sent);
  EXPECT_EQ(back, answer);
}

TEST_P(Networks, AnEndIsSeenBehindTheBytes) {
  const auto listener = listen();
  const Ends ends = connect(*listener);
  std::vector<std::byte> two(2), more(1);
  ends.here->send(two, later());
  ends.here->end();
  receive_all(*ends.there, two, later());
  EXPECT_EQ(ends.there->receive(more, later()), 0U);
  ends.there->send(two, later());  // the other way is open
  receive_all(*ends.here, two, later());
  EXPECT_THAT(error_of<IoError>([&] { receive_all(*ends.there, more, later()); }),
              HasSubstr("ended too early; got 0 bytes, expected 1"));
}

TEST_P(Networks, GiveUpAtTheDeadline) {
  const auto listener = listen();
  EXPECT_THAT(error_of<Timeout>([&] { static_cast<void>(listener->accept(soon())); }),
              HasSubstr("accept: '" + hosts_.name));
  const Ends ends = connect(*listener);
  std::vector<std::byte> bytes(1);
  EXPECT_THAT(error_of<Timeout>([&] { receive_all(*ends.here, bytes, soon()); }),
              HasSubstr("no answer before the deadline"));
}

TEST_P(Networks, NameWhatIsNotThere) {
  Address address = listen()->address();  // closed at once
  EXPECT_THAT(
      error_of<IoError>([&] { hosts_.here->connect(address, later()); }),
      testing::AllOf(HasSubstr("connect: '" + hosts_.name), HasSubstr("Connection refused")));
  address.host = std::string(300, 'x');  // too long for a name: no server is asked
  EXPECT_THAT(error_of<IoError>([&] { hosts_.here->connect(address, later()); }),
              HasSubstr("connect: '" + address.host));
}

TEST_P(Networks, LetOneListenAtAnAddress) {
  const auto listener = listen();
  EXPECT_GT(listener->address().port, 0);
  EXPECT_THAT(error_of<IoError>([&] { hosts_.there->listen(listener->address()); }),
              HasSubstr("Address already in use"));
  EXPECT_THAT(error_of<IoError>([&] {
                hosts_.there->listen({"192.0.2.1", 0});
              }),
              HasSubstr("Cannot assign requested address"));
}

TEST_P(Networks, SayThatAPeerHasGone) {
  const auto listener = listen();
  Ends ends = connect(*listener);
  ends.there.reset();
  const auto bytes = random_bytes(1 << 16, 3);
  const std::string said = error_of<IoError>([&] {
    for (int i = 0; i < 1000; ++i) {  // TCP hears of it by the answer to what it sends
      ends.here->send(bytes, later());
    }
  });
  EXPECT_THAT(said, HasSubstr("send: '" + hosts_.name));
}

TEST_P(Networks, ResetWhatNobodyAccepted) {
  auto listener = listen();
  const auto here = hosts_.here->connect(listener->address(), later());
  listener.reset();
  std::vector<std::byte> byte(1);
  EXPECT_THAT(error_of<IoError>([&] { receive_all(*here, byte, later()); }),
              HasSubstr("Connection reset by peer"));
}

TEST(NetworkScope, IsOfTheThread) {
  SimulatedNetwork wires(1);
  const auto host = wires.host("a");
  const NetworkScope scope(*host);
  EXPECT_EQ(&network(), host.get());
  std::thread([] { EXPECT_EQ(&network(), &real_network()); }).join();
}

TEST(Address, OfSixIsInBrackets) {
  EXPECT_EQ(to_string(Address{"::1", 80}), "[::1]:80");
  EXPECT_EQ(to_string(Address{"host", 1}), "host:1");
}

}  // namespace
}  // namespace tessera
