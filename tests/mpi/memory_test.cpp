// What the ranks of a host take of its memory together.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include <tessera/core/tensor/factories.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/module.h>

#include "world.h"

namespace tessera::dist {
namespace {

struct Wide : nn::Module {
  nn::Parameter weight{
      this, "weight", {1024, 1024}, [](const Tensor&, const Box&, const RandomStream&) {}};
};

std::int64_t resident_pages(const Tensor& x) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t pages = x.nbytes() / page;
  std::vector<unsigned char> in_memory(pages);
  EXPECT_EQ(mincore(x.raw_data(), pages * page, in_memory.data()), 0);
  return std::ranges::count_if(in_memory, [](unsigned char c) { return (c & 1) != 0; });
}

TEST(MemoryOverMpi, OptimizerStateTakesTheRanksOwnPartAlone) {
  const World& world = test_world();
  const auto model = nn::make<Wide>();
  const auto reducer = data_parallel(*model, world.communicator(), {.grain = 8});
  const nn::Slot& slot = *model->weight.slot();
  const Tensor state = reducer->ownership().make_state(slot, slot.shape, {});
  const nn::ElementRange own = reducer->ownership().own_range(slot);
  std::fill_n(state.data<float>() + own.first, own.count, 1.0F);
  const std::int64_t pages = own.count * 4 / sysconf(_SC_PAGESIZE);
  EXPECT_NEAR(static_cast<double>(resident_pages(state)), static_cast<double>(pages), 2);
}

}  // namespace
}  // namespace tessera::dist
