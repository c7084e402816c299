// The head's weight gradient is made in forward, in its bucket, and survives whatever comes before
// its backward.
#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

struct LossHead : nn::Module {
  nn::Parameter weight{this, "weight", {7, toy::kWidth}, toy::fill_uniform};
  Tensor forward(const Tensor& x, const Tensor& targets) const {
    return linear_cross_entropy(x, weight, targets);
  }
};

/// A head on one rank with a grain of 1, and its losses on two batches.
struct OneRank {
  explicit OneRank(const std::shared_ptr<Communicator>& comm) {
    set_seed(3);
    model = nn::make<LossHead>();
    if (comm != nullptr) {
      reducer = data_parallel(*model, comm, {.grain = 1});
    }
  }
  [[nodiscard]] Tensor loss(int batch) const {
    Tensor x = empty({6, toy::kWidth});
    toy::fill_uniform(x, Box::all_of(x.shape()), {.key = static_cast<std::uint64_t>(batch)});
    Tensor targets = empty({6}, {.dtype = DType::i64});
    for (std::int64_t i = 0; i < 6; ++i) {
      targets.data<std::int64_t>()[i] = (i * i + batch) % 7;
    }
    return model(x, targets);
  }
  [[nodiscard]] std::vector<float> gradient() const {
    return model->weight.grad().to_vector<float>();
  }
  nn::Ptr<LossHead> model;
  std::shared_ptr<GradientReducer> reducer;
};

/// What `use` leaves as gradient with buckets equals what it leaves without.
template <class Use>
void expect_as_without_buckets(const Use& use) {
  const OneRank plain(nullptr);
  use(plain);
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const OneRank reduced(borrowed);
    use(reduced);
    EXPECT_EQ(reduced.gradient(), plain.gradient());
  });
}

TEST(EarlyGradient, lies_in_the_bucket_before_backward_runs) {
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const OneRank head(borrowed);
    head.loss(1).backward();
    const Tensor bucket = head.model->weight.grad();
    const std::vector<float> first = head.gradient();
    head.model->weight.value().set_grad({});
    const Tensor loss = head.loss(2);
    EXPECT_NE(bucket.to_vector<float>(), first);
    const std::vector<float> early = bucket.to_vector<float>();
    loss.backward();
    EXPECT_EQ(head.model->weight.grad().raw_data(), bucket.raw_data());
    EXPECT_EQ(head.gradient(), early);
  });
}

/// A head whose weight is also the table that its input was looked up in.
struct TiedHead : nn::Module {
  static constexpr std::int64_t kRows = 1 << 14;
  nn::Parameter weight{this, "weight", {kRows, 32}, toy::fill_uniform};
  Tensor forward(const Tensor& ids, const Tensor& targets) const {
    return linear_cross_entropy(embedding(weight, ids), weight, targets);
  }
};

TEST(EarlyGradient, of_a_tied_head_is_never_copied) {
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const auto model = nn::make<TiedHead>();
    const auto reducer = data_parallel(*model, borrowed, {.grain = 1});
    const Tensor ids = zeros({6}, {.dtype = DType::i64});
    for (int step = 0; step < 2; ++step) {  // the first makes what is kept for the next
      const Tensor loss = model(ids, ids);
      const std::size_t before = memory_stats().current;
      reset_peak();
      loss.backward();
      const std::size_t table = model->weight.value().numel() * sizeof(float);
      EXPECT_LT(memory_stats().peak - before, table / 2) << "step " << step;
      model->weight.value().set_grad({});
    }
  });
}

TEST(EarlyGradient, survives_the_backward_of_a_later_forward) {
  expect_as_without_buckets([](const OneRank& head) {
    const Tensor first = head.loss(1);
    const Tensor second = head.loss(2);
    second.backward();
    first.backward();
  });
}

TEST(EarlyGradient, of_two_forwards_in_one_backward_is_neither_lost_nor_added_twice) {
  expect_as_without_buckets([](const OneRank& head) { (head.loss(1) + head.loss(2)).backward(); });
}

TEST(EarlyGradient, survives_in_a_graph_that_is_kept) {
  expect_as_without_buckets([](const OneRank& head) {
    const Tensor loss = head.loss(1);
    backward(std::span(&loss, 1), std::vector<Tensor>(1), {.keep_graph = true});
    loss.backward();
  });
}

TEST(EarlyGradient, of_a_forward_that_is_dropped_leaves_no_trace) {
  expect_as_without_buckets([](const OneRank& head) {
    static_cast<void>(head.loss(1));
    head.loss(2).backward();
  });
}

TEST(EarlyGradient, does_not_touch_a_gradient_that_nobody_took) {
  expect_as_without_buckets([](const OneRank& head) {
    head.loss(1).backward();
    static_cast<void>(head.loss(2));
  });
}

}  // namespace
}  // namespace tessera::dist
