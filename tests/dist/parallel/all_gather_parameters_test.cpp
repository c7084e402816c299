#include <gtest/gtest.h>

#include <map>

#include <tessera/core/base/error.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/cold_copy.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/optim/flat_range.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

/// Several blocks of a gradient norm, so that ranks share one parameter.
struct Wide : nn::Module {
  nn::Parameter weight{this, "weight", {5, nn::kNormBlock + 7}, toy::fill_uniform};
  nn::Parameter bias{this, "bias", {5}, toy::fill_uniform};
};

using SeenElements = std::map<float, std::int64_t>;  // elements by value

/// Every rank writes its number into its part of the weights; gives what it sees afterwards.
SeenElements gather_own_part(Communicator& comm, bool whole, std::int64_t& owned) {
  set_seed(3);
  const auto model = nn::make<Wide>();
  const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
  if (whole) {
    reducer->ownership().assign_owner(*model->weight.slot());
    const nn::ElementRange own = reducer->ownership().own_range(*model->weight.slot());
    EXPECT_TRUE(own.count == 0 || own.count == model->weight.value().numel()) << own.count;
  }
  const std::vector<nn::Parameter> parameters = model->parameters();
  barrier(comm, "nobody reads old weights").wait();
  for (const nn::Parameter& p : parameters) {
    const nn::ElementRange own = reducer->ownership().own_range(*p.slot());
    const Tensor part = optim::flat_range(p.value(), own);
    std::fill_n(part.data<float>(), own.count, 100 + comm.rank());
    reducer->ownership().all_gather_parameters(part);
    owned += own.count;
  }
  reducer->ownership().wait_for_parameters();
  SeenElements counts;
  for (const nn::Parameter& p : parameters) {
    for (const float x : p.value().to_vector<float>()) {
      ++counts[x];
    }
  }
  return counts;
}

void expect_gathered(int ranks, bool direct, bool whole) {
  std::vector<SeenElements> seen(static_cast<std::size_t>(ranks));
  std::vector<std::int64_t> owned(static_cast<std::size_t>(ranks));
  run_ranks(ranks,
            [&](Communicator& comm) {
              const auto at = static_cast<std::size_t>(comm.rank());
              seen[at] = gather_own_part(comm, whole, owned[at]);
            },
            {.direct = direct});
  SeenElements expected;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t count = owned[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(whole || count > 0);
    if (count > 0) {
      expected[100 + static_cast<float>(rank)] = count;
    }
  }
  for (const SeenElements& counts : seen) {
    EXPECT_EQ(counts, expected) << ranks << " ranks, direct " << direct << ", whole " << whole;
  }
}

TEST(AllGatherParameters, brings_every_ranks_part_to_all) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const bool direct : {true, false}) {
      expect_gathered(ranks, direct, false);
      expect_gathered(ranks, direct, true);
    }
  }
}

TEST(AllGatherParameters, a_tensor_that_was_replaced_is_refused) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<Wide>();
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
    EXPECT_THROW(reducer->ownership().all_gather_parameters(full({5}, 1)), InvalidArgument);
  });
}

TEST(AllGatherParameters, copies_whatever_the_alignment) {
  std::vector<std::byte> source(3'000'001);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i * 7 + i / 1000);
  }
  for (const std::size_t nbytes : {0UL, 1UL, 63UL, 64UL, 1000UL, 2'999'990UL}) {
    std::vector<std::byte> a(source.size() + 64);
    std::vector<std::byte> b(source.size() + 64);
    copy_past_caches({source.data() + 3, nbytes}, {a.data(), b.data() + 1}, 5);
    EXPECT_TRUE(std::equal(a.begin() + 5, a.begin() + 5 + static_cast<std::ptrdiff_t>(nbytes),
                           source.begin() + 3));
    EXPECT_TRUE(std::equal(b.begin() + 6, b.begin() + 6 + static_cast<std::ptrdiff_t>(nbytes),
                           source.begin() + 3));
    EXPECT_EQ(a[4], std::byte{0});
    EXPECT_EQ(a[5 + nbytes], std::byte{0});
  }
}

TEST(AllGatherParameters, memory_of_the_ranks_is_counted) {
  const MemoryStats before = memory_stats();
  run_ranks(1, [&](Communicator& comm) {
    const auto model = nn::make<Wide>();
    const auto reducer = data_parallel(*model, {&comm, [](Communicator*) {}}, {.grain = 8});
    const Tensor state =
        reducer->ownership().make_state(*model->weight.slot(), model->weight.shape(), {});
    const MemoryStats now = memory_stats();
    const auto least = static_cast<std::size_t>(model->parameter_count()) * sizeof(float);
    for (const MemoryCategory category :
         {MemoryCategory::parameter, MemoryCategory::gradient, MemoryCategory::optimizer}) {
      EXPECT_GE(now[category], before[category] + least) << to_string(category);
    }
  });
  EXPECT_EQ(memory_stats()[MemoryCategory::gradient], before[MemoryCategory::gradient]);
}

}  // namespace
}  // namespace tessera::dist
