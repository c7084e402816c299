// What people read about how ranks are joined.
#include <gtest/gtest.h>

#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/transports.h>

namespace tessera::dist {
namespace {

/// Ranks 0 and 1 on host a, 2 on b, 3 on c; b and c are joined by another network than the rest.
class ThreeHosts final : public CommDecorator {
 public:
  using CommDecorator::CommDecorator;
  [[nodiscard]] std::string host(int peer) const override {
    return peer < 2 ? "a" : peer == 2 ? "b" : "c";
  }
  [[nodiscard]] std::string transport(int peer) const override {
    if (peer == rank()) {
      return "self";
    }
    return host(peer) == host(rank()) ? "shm" : peer + rank() == 5 ? "mpi" : "tcp";
  }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override { return part; }
};

TEST(Transports, PairsOfHostsAreNamedWhereTheyDiffer) {
  run_ranks(4, [](Communicator& comm) {
    ThreeHosts hosts(std::shared_ptr<Communicator>(&comm, [](Communicator*) {}));
    EXPECT_EQ(describe_transports(hosts),
              "a: 0 1 (shm); b: 2; c: 3; mpi between b and c; tcp between a and b, a and c");
  });
}

TEST(Transports, NamesThatOfEveryPair) {
  run_ranks(3, [](Communicator& comm) {
    EXPECT_EQ(describe_transports(comm), comm.host(0) + ": 0 1 2 (thread)");
  });
}

}  // namespace
}  // namespace tessera::dist
