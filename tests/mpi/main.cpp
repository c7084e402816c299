// GoogleTest over ranks: every rank runs every test, rank 0 reports, and the exit code is the
// worst.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include <tessera/dist/comm/collectives.h>

#include "world.h"

namespace tessera::dist {
namespace {

std::optional<World>& slot() {
  static std::optional<World> world;
  return world;
}

/// Says which rank a failure is of.
class RankPrinter final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::fprintf(stderr, "[rank %d] %s:%d %s\n", test_world().rank(),
                   result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                   result.message());
    }
  }
};

int run_all_tests() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (test_world().rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new RankPrinter);
  }
  std::vector<std::int32_t> code{RUN_ALL_TESTS()};
  all_reduce<std::int32_t>(*test_world().communicator(), code, ReduceOp::max).wait();
  return code[0];
}

}  // namespace

World& test_world() {
  return *slot();
}

}  // namespace tessera::dist

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace tessera::dist;
  slot() = World::start();
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {  // alone, Tessera needs no MPI, but these tests compare with it
    MPI_Init(&argc, &argv);
  }
  const int code = run_all_tests();
  slot().reset();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) {
    MPI_Finalize();
  }
  return code;
}
