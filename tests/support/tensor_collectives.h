// Collectives on tensors that nobody waits for, and on uneven parts: what they give on any number
// of ranks, whichever transport and device.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/tensor_collectives.h>

namespace tessera::test {

using Counts = std::vector<std::size_t>;

inline constexpr std::int64_t kElements = 5000;  ///< more than travels inside a descriptor

/// (1 + rank) * 3, summed over ranks, doubled; then the sum is overwritten. Both are returned.
inline std::vector<std::vector<float>> sums_without_waiting(dist::Communicator& comm,
                                                            const Device& device) {
  const Tensor mine = full({kElements}, 1 + comm.rank(), {.device = device});
  const Tensor sum = mine * 3;
  static_cast<void>(dist::all_reduce(comm, sum));
  const Tensor twice = sum * 2;
  add_(sum, mine);
  return {twice.to_vector<float>(), sum.to_vector<float>()};
}

inline void expect_sums_without_waiting(dist::Communicator& comm, const Device& device) {
  const auto sums = sums_without_waiting(comm, device);
  const int sum = 3 * comm.size() * (comm.size() + 1) / 2;
  EXPECT_EQ(sums[0], std::vector<float>(kElements, static_cast<float>(2 * sum)));
  EXPECT_EQ(sums[1], std::vector<float>(kElements, static_cast<float>(sum + 1 + comm.rank())));
}

/// Gathered, exchanged and scattered again, every rank has its own, as often as there are ranks;
/// then rank 0's.
inline void expect_parts_without_waiting(dist::Communicator& comm, const Device& device) {
  const auto ranks = static_cast<std::int64_t>(comm.size());
  const auto of_rank = [&](int rank) {
    return arange(kElements, {.device = device}) + 100'000 * rank;
  };
  const Tensor mine = of_rank(comm.rank());
  const Tensor all = zeros({ranks, kElements}, {.device = device});
  const Tensor mine_of_all = zeros({ranks, kElements}, {.device = device});
  const Tensor part = zeros({kElements}, {.device = device});
  static_cast<void>(dist::all_gather(comm, mine, all));
  static_cast<void>(dist::all_to_all(comm, all, mine_of_all));
  static_cast<void>(dist::reduce_scatter(comm, all, part));
  EXPECT_EQ(part.to_vector<float>(), (mine * static_cast<double>(ranks)).to_vector<float>());
  EXPECT_EQ(mine_of_all.to_vector<float>(),
            (zeros({ranks, kElements}, {.device = device}) + mine).to_vector<float>());
  static_cast<void>(dist::broadcast(comm, part, 0));
  EXPECT_EQ(part.to_vector<float>(), (of_rank(0) * static_cast<double>(ranks)).to_vector<float>());
}

/// Part r is r * 1000 + 0, 1, 2, ....
inline std::vector<float> parts_of(const Counts& counts) {
  std::vector<float> all;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (std::size_t i = 0; i < counts[r]; ++i) {
      all.push_back(static_cast<float>(r * 1000 + i));
    }
  }
  return all;
}

inline void expect_uneven_parts(dist::Communicator& comm, const Counts& counts) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const std::vector<float> expected = parts_of(counts);
  const auto begin =
      static_cast<std::ptrdiff_t>(std::reduce(counts.begin(), counts.begin() + comm.rank()));
  const std::vector<float> mine(
      expected.begin() + begin,
      expected.begin() + begin + static_cast<std::ptrdiff_t>(counts[rank]));
  std::vector<float> all(expected.size(), -1);
  dist::all_gather<float>(comm, mine, all, counts).wait();
  EXPECT_EQ(all, expected);
  std::vector<float> part(counts[rank], -1);
  dist::reduce_scatter<float>(comm, all, part, counts).wait();
  for (std::size_t i = 0; i < part.size(); ++i) {
    EXPECT_EQ(part[i], mine[i] * static_cast<float>(comm.size()));
  }
}

}  // namespace tessera::test
