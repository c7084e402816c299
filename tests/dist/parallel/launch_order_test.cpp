// What a backward launches, and in which order: on all ranks the same, whichever order gradients
// come in.
#include <tessera/dist/parallel/launch_order.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <tessera/core/base/pass_scope.h>
#include <tessera/dist/comm/loopback.h>

#include "dist/parallel/six_parameters.h"

namespace tessera::dist {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Notes what it is to reduce.
class NotedRanges final : public ReductionStrategy {
 public:
  Work reduce(const GradientMemory&, FlatRange range, std::string label) override {
    ranges.push_back(range);
    labels.push_back(std::move(label));
    return {};
  }
  std::vector<FlatRange> ranges;
  std::vector<std::string> labels;
};

struct Launching {
  explicit Launching(bool spans_hosts = false, int ranks = 1, int rank = 0)
      : six(ranks, rank), order(six.parameters, six.buckets, gradients, strategy, spans_hosts) {
    gradients.tree = six.blocks.tree();
  }
  /// A parameter by number: 0 is the first of the first bucket.
  void complete(std::size_t number) {
    order.complete(six.parameters[number]);
    order.launch_ready();
  }
  void complete_all_but(std::size_t left_out) {
    for (std::size_t i = 0; i < six.parameters.size(); ++i) {
      if (i != left_out && six.parameters[i].trained) {
        complete(i);
      }
    }
  }
  void complete_all() { complete_all_but(six.parameters.size()); }
  /// A backward begins, and nothing is noted yet.
  void begin() {
    strategy.ranges.clear();
    strategy.labels.clear();
    order.begin();
  }

  SixReduced six;
  GradientMemory gradients;
  NotedRanges strategy;
  LaunchOrder order;
};

const char* const kFirst = "bucket 0 (f to e)";
const char* const kSecond = "bucket 1 (d to c)";
const char* const kThird = "bucket 2 (b to a)";

TEST(LaunchOrder, is_that_of_buckets_whichever_order_gradients_come_in) {
  Launching launching;
  const std::vector<Bucket>& buckets = launching.six.buckets;
  ASSERT_EQ(buckets.size(), 3U);
  std::vector<std::size_t> numbers(6);
  std::iota(numbers.begin(), numbers.end(), 0U);
  do {
    launching.begin();
    std::vector<int> missing(3, 2);
    for (const std::size_t number : numbers) {
      launching.complete(number);
      --missing[number / 2];
      const auto whole = static_cast<std::size_t>(
          std::ranges::find_if(missing, [](int n) { return n > 0; }) - missing.begin());
      ASSERT_EQ(launching.strategy.ranges.size(), whole);  // a missing one holds back what follows
      ASSERT_EQ(launching.order.is_late(), whole > 0);
    }
    ASSERT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird));
    for (std::size_t b = 0; b < 3; ++b) {
      ASSERT_EQ(launching.strategy.ranges[b].first, buckets[b].offset);
      ASSERT_EQ(launching.strategy.ranges[b].last, buckets[b].offset + buckets[b].count);
    }
  } while (std::ranges::next_permutation(numbers).found);
}

TEST(LaunchOrder, holds_back_all_buckets_behind_the_one_that_misses_a_gradient) {
  Launching launching;
  launching.begin();
  launching.complete_all_but(2);
  EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst));
  launching.complete(2);
  EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird));
  EXPECT_EQ(launching.order.launched().size(), 3U);
  launching.order.forget_launched();
  EXPECT_THAT(launching.order.launched(), IsEmpty());
}

TEST(LaunchOrder, neither_awaits_nor_reduces_what_is_not_trained) {
  Launching launching;
  launching.six.parameters[2].trained = launching.six.parameters[3].trained = false;
  launching.six.parameters[4].trained = false;
  launching.begin();
  launching.complete_all();
  EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kThird));
  const ReducedParameter& last = launching.six.parameters[5];
  EXPECT_EQ(launching.strategy.ranges[1].first, last.entry.offset);
  EXPECT_GE(launching.strategy.ranges[1].last, last.entry.offset + last.entry.count);
  EXPECT_FALSE(launching.order.overwrites(launching.six.parameters[4]));
  EXPECT_TRUE(launching.order.overwrites(last));
}

TEST(LaunchOrder, lets_what_comes_early_go_first_between_hosts_and_waits_for_it) {
  for (const bool spans_hosts : {false, true}) {
    Launching launching(spans_hosts);
    launching.six.parameters[3].early_for = 3;
    launching.begin();
    launching.complete_all_but(3);
    if (!spans_hosts) {
      EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst));
      continue;
    }
    EXPECT_THAT(launching.strategy.labels, IsEmpty());
    launching.complete(3);
    EXPECT_THAT(launching.strategy.labels, ElementsAre("c (dense)", kFirst, kSecond, kThird));
    const BucketEntry& early = launching.six.parameters[3].entry;
    EXPECT_EQ(launching.strategy.ranges[0].first, early.offset);
    EXPECT_EQ(launching.strategy.ranges[0].last, early.offset + early.count);
    EXPECT_LE(launching.strategy.ranges[2].last, early.offset);  // its bucket goes without it
  }
}

/// A backward that came to all parameters, and to the first one with a dense gradient where
/// `brings_it`; all ranks learn from it.
void run_noted_backward(Launching& launching, Communicator& comm, bool brings_it) {
  LossCountTable counts(comm, launching.six.blocks.grain());
  for (std::size_t i = 0; i < launching.six.parameters.size(); ++i) {
    launching.six.parameters[i].reached = true;
    if (i > 0 || brings_it) {
      launching.six.parameters[i].sums.add(ones({20}));
    }
  }
  launching.begin();
  launching.complete_all();
  UsedParameters table(comm, launching.six.parameters, counts);
  table.work().wait();
  static_cast<void>(table.take_counts(counts));
  launching.order.launch_left_out(table);
  launching.order.learn(table, comm.size());
  for (ReducedParameter& parameter : launching.six.parameters) {
    parameter.sums.forget();
  }
}

TEST(LaunchOrder, leaves_out_what_brought_nothing_dense_until_a_rank_brings_it) {
  run_ranks(2, [](Communicator& comm) {
    const PassScope pass({.grain = 2, .first = comm.rank(), .samples = 1});
    Launching launching(false, comm.size(), comm.rank());
    for (int backward = 0; backward < 3; ++backward) {
      run_noted_backward(launching, comm, false);
      EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird));
      EXPECT_EQ(launching.strategy.ranges[0].first, 0);
    }
    const BucketEntry& second = launching.six.parameters[1].entry;
    run_noted_backward(launching, comm, false);
    EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird));
    EXPECT_EQ(launching.strategy.ranges[0].first, second.offset);
    run_noted_backward(launching, comm, comm.rank() == 1);
    EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird, "f (dense)"));
    run_noted_backward(launching, comm, false);
    EXPECT_THAT(launching.strategy.labels, ElementsAre(kFirst, kSecond, kThird));
    EXPECT_EQ(launching.strategy.ranges[0].first, 0);
  });
}

}  // namespace
}  // namespace tessera::dist
