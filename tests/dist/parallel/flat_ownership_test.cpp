// Which rank owns which elements of which parameter, and what becomes of optimizer state where that
// changes, without data parallel around it.
#include <tessera/dist/parallel/flat_ownership.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/flat_range.h>

#include "support/guarded_device.h"

namespace tessera::dist {
namespace {

constexpr std::size_t kBucketBytes = std::size_t{1} << 18;

void fill_by_place(const Tensor& value, const Box&, const RandomStream&) {
  std::iota(value.data<float>(), value.data<float>() + value.numel(), 0.5F);
}

struct Owned : nn::Module {
  nn::Parameter wide{this, "wide", {5, nn::kNormBlock}, fill_by_place};
  nn::Parameter small{this, "small", {3, 5}, fill_by_place};
  nn::Parameter odd{this, "odd", {2 * nn::kNormBlock + 7}, fill_by_place};
  nn::Parameter none{this, "none", {0}, fill_by_place};
  nn::Parameter last{this, "last", {9}, fill_by_place};
};

/// A model on `device` that the ranks of `comm` own together.
struct Owners {
  explicit Owners(Communicator& comm, const Device& its_device = {})
      : device(its_device),
        ownership(std::make_shared<FlatOwnership>(
            std::shared_ptr<Communicator>(&comm, [](Communicator*) {}), watched, waits)) {
    model->to(device);
    watched.accept();
  }
  ~Owners() {
    for (const nn::Parameter& p : model->parameters()) {
      p.slot()->ownership = nullptr;
    }
  }
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;

  void lay_out(const std::vector<nn::Parameter>& parameters, std::size_t bytes = kBucketBytes) {
    ownership->lay_out(make_buckets(parameters, {.first_bytes = bytes, .bytes = bytes}), device);
    for (const nn::Parameter& p : parameters) {
      p.slot()->ownership = ownership;
    }
  }
  [[nodiscard]] nn::ElementRange range_of(const nn::Parameter& p) const {
    return ownership->own_range(*p.slot());
  }
  /// State of `p`, of which this rank has written its own elements.
  [[nodiscard]] Tensor make_written(const nn::Parameter& p, float begin) {
    const Tensor state = ownership->make_state(*p.slot(), p.shape(), {});
    const nn::ElementRange own = range_of(p);
    if (own.count > 0) {
      const Tensor part = optim::flat_range(state, own);
      const Tensor values = arange(own.count) + (begin + static_cast<float>(own.first));
      part.copy_(on_device(reshape(values, part.shape()), device));
    }
    return state;
  }

  Device device;
  nn::Ptr<Owned> model = nn::make<Owned>();
  WatchedModel watched{*model};
  TimedWaits waits;
  std::shared_ptr<FlatOwnership> ownership;
};

/// The elements `range` of what `make_written` made, as it should be.
std::vector<float> written(nn::ElementRange range, float begin) {
  std::vector<float> values(static_cast<std::size_t>(range.count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = begin + static_cast<float>(range.first + static_cast<std::int64_t>(i));
  }
  return values;
}

nn::ElementRange all_of(const nn::Parameter& p) {
  return {.first = 0, .count = numel_of(p.shape())};
}

void expect_holds(const Tensor& state, nn::ElementRange range, float begin) {
  if (range.count > 0) {
    EXPECT_EQ(optim::flat_range(state.detach(), range).to_vector<float>(), written(range, begin));
  }
}

/// The ranges of all ranks, by parameter.
class AllRanges {
 public:
  void add(const Owners& owners, const std::vector<nn::Parameter>& parameters) {
    const std::lock_guard lock(mutex_);
    for (const nn::Parameter& p : parameters) {
      sizes_[p.slot()->name] = numel_of(p.shape());
      if (const nn::ElementRange range = owners.range_of(p); range.count > 0) {
        ranges_[p.slot()->name][range.first] = range.count;
      }
    }
  }
  /// `whole`: the parameter that one rank owns.
  void expect_each_element_once(const std::string& whole = "") {
    for (const auto& [name, size] : sizes_) {
      std::int64_t next = 0;
      for (const auto& [first, count] : ranges_[name]) {
        EXPECT_EQ(first, next) << name;
        EXPECT_EQ(first % nn::kNormBlock, 0) << name;
        next = first + count;
      }
      EXPECT_EQ(next, size) << name;
      EXPECT_TRUE(name != whole || ranges_[name].size() == 1) << name;
    }
  }
  [[nodiscard]] std::size_t parts(const std::string& name) { return ranges_[name].size(); }

 private:
  std::mutex mutex_;
  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> ranges_;
};

TEST(FlatOwnership, gives_each_element_one_rank_and_breaks_at_blocks_of_norms) {
  for (const int ranks : {1, 2, 3}) {
    AllRanges ranges;
    run_ranks(ranks, [&](Communicator& comm) {
      Owners owners(comm);
      owners.lay_out(owners.model->parameters());
      ranges.add(owners, owners.model->parameters());
    });
    ranges.expect_each_element_once();
    EXPECT_EQ(ranges.parts("wide") + ranges.parts("odd") > 2, ranks > 1);  // some is cut
  }
}

TEST(FlatOwnership, keeps_states_where_one_rank_comes_to_own_a_parameter) {
  for (const int ranks : {1, 2, 3}) {
    AllRanges before, after;
    run_ranks(ranks, [&](Communicator& comm) {
      Owners owners(comm);
      const std::vector<nn::Parameter> parameters = owners.model->parameters();
      owners.lay_out(parameters);
      before.add(owners, parameters);
      std::vector<Tensor> states;
      for (const nn::Parameter& p : parameters) {
        states.push_back(owners.make_written(p, 1));
        states.push_back(owners.make_written(p, 500'000));
      }
      owners.ownership->assign_owner(*owners.model->wide.slot());
      owners.ownership->assign_owner(*owners.model->odd.slot());
      after.add(owners, parameters);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        expect_holds(states[2 * i], owners.range_of(parameters[i]), 1);
        expect_holds(states[2 * i + 1], owners.range_of(parameters[i]), 500'000);
      }
    });
    before.expect_each_element_once();
    after.expect_each_element_once("wide");
    after.expect_each_element_once("odd");
  }
}

TEST(FlatOwnership, moves_values_and_states_where_parameters_are_laid_out_anew) {
  for (const int ranks : {1, 2, 3}) {
    run_ranks(ranks, [&](Communicator& comm) {
      Owners owners(comm);
      const auto& m = *owners.model;
      owners.lay_out({m.wide, m.odd, m.last});
      const std::vector<float> values = m.wide.value().to_vector<float>();
      const Tensor wide = m.wide.value(), state = owners.make_written(m.wide, 1);
      const Tensor other = owners.make_written(m.odd, 2);
      const Tensor small = owners.ownership->make_state(*m.last.slot(), {1}, {});
      owners.ownership->assign_owner(*m.last.slot());
      const bool owns_last = owners.range_of(m.last).count > 0;
      if (owns_last) {
        small.copy_(full({1}, 7));
      }
      owners.lay_out({m.small, m.wide, m.none, m.last}, std::size_t{1} << 20);  // without odd
      EXPECT_EQ(m.wide.value().to_vector<float>(), values);
      EXPECT_EQ(&m.wide.value().get(), &wide.get());  // the same tensor, on other memory
      expect_holds(state, owners.range_of(m.wide), 1);
      expect_holds(other, all_of(m.odd), 2);  // what nobody owns is whole everywhere
      EXPECT_TRUE(owners.range_of(m.last).count == 0 || small.to_vector<float>()[0] == 7);
      owners.lay_out(owners.model->parameters());
      for (const auto& [p, has, begin] : {std::tuple{m.wide, state, 1}, {m.odd, other, 2}}) {
        expect_holds(has, owners.range_of(p), static_cast<float>(begin));
      }
      owners.ownership->gather_states();
      if (comm.rank() == 0) {
        expect_holds(state, all_of(m.wide), 1);
        expect_holds(other, all_of(m.odd), 2);
        EXPECT_EQ(small.to_vector<float>(), std::vector<float>{7});
      }
    });
  }
}

void gather_states(Communicator& comm, const Device& device) {
  Owners owners(comm, device);
  const std::vector<nn::Parameter> parameters = owners.model->parameters();
  owners.lay_out(parameters);
  std::vector<Tensor> states;
  for (const nn::Parameter& p : parameters) {
    states.push_back(owners.make_written(p, 3));
  }
  owners.ownership->gather_states();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(states[i].device(), device);
    const nn::Parameter& p = parameters[i];
    expect_holds(states[i], comm.rank() == 0 ? all_of(p) : owners.range_of(p), 3);
  }
}

TEST(FlatOwnership, gathers_whole_states_on_the_first_rank) {
  for (const int ranks : {1, 2, 3}) {
    run_ranks(ranks, [](Communicator& comm) { gather_states(comm, Device{}); });
  }
  for (std::uint64_t order = 0; order < 5; ++order) {
    test::GuardedRun run(order);
    run_ranks(2 + static_cast<int>(order % 2),
              [](Communicator& comm) { gather_states(comm, test::guarded_device(comm.rank())); });
    EXPECT_EQ(run.reports(), std::vector<std::string>{}) << "order " << order;
  }
}

}  // namespace
}  // namespace tessera::dist
