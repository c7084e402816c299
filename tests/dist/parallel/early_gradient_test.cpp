// A weight gradient that an op makes in forward lies in its bucket, and survives whatever comes
// before its backward: that of the head, and that of an op which nobody else knows.
#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>

#include "support/toy_model.h"

namespace tessera::dist {
namespace {

/// Inputs: x (n, width), weight (width). Outputs: the sum of all x weight; its gradient for weight,
/// if wanted.
struct SumOfProducts {
  static constexpr OpInfo info{.name = "sum_of_products",
                               .doc = "the sum of all x weight",
                               .sees_microbatches = true,
                               .saved_inputs = 0b11,
                               .saved_outputs = 0b10,
                               .kept_outputs = 0b10,
                               .early_gradient = {.input = 1, .output = 1}};
  struct Attrs {
    bool gradient = false;
    void fields(auto&& see) const { see("gradient", gradient); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs) {
    c.add_output({}, DType::f32);
    if (attrs.gradient) {
      c.add_output(c.input(1).shape(), DType::f32);
    }
  }
  static void reference(Kernel& k, const Attrs& attrs) {
    const std::vector<float> x = dense_values<float>(k.input(0));
    const std::vector<float> weight = dense_values<float>(k.input(1));
    std::vector<float> to_weight(weight.size());
    float sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      to_weight[i % weight.size()] += x[i];
      sum += x[i] * weight[i % weight.size()];
    }
    store_values(k.output(0), std::vector{sum});
    if (attrs.gradient) {
      store_values(k.output(1), to_weight);
    }
  }
  static void vjp(Vjp& v, const Attrs& attrs) {
    v.set(0, [&] { return zeros_like(v.input(0)) + v.input(1) * v.gradient(); });
    const bool as_expected = v.gradient().item() == 1;
    v.set(1, [&] {
      return attrs.gradient && as_expected && v.has_output(1) ? v.output(1).detach()
                                                              : sum(v.input(0), {0}) * v.gradient();
    });
  }
};

struct SumHead : nn::Module {
  nn::Parameter weight{this, "weight", {toy::kWidth}, toy::fill_uniform};
  Tensor forward(const Tensor& x, const Tensor&) const {
    const bool gradient = CallContext::current().record && weight.requires_grad();
    return call_all<SumOfProducts>({x, weight.value()}, {gradient})[0];
  }
};

struct LossHead : nn::Module {
  nn::Parameter weight{this, "weight", {7, toy::kWidth}, toy::fill_uniform};
  Tensor forward(const Tensor& x, const Tensor& targets) const {
    return linear_cross_entropy(x, weight, targets);
  }
};

template <class Head>
class EarlyGradientOf : public testing::Test {};
using Heads = testing::Types<LossHead, SumHead>;
TYPED_TEST_SUITE(EarlyGradientOf, Heads);

/// A head on one rank with a grain of 1, and its losses on two batches.
template <class Head>
struct OneRank {
  explicit OneRank(const std::shared_ptr<Communicator>& comm) {
    set_seed(3);
    model = nn::make<Head>();
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
    return model->weight.grad().template to_vector<float>();
  }
  nn::Ptr<Head> model;
  std::shared_ptr<GradientReducer> reducer;
};

/// What `use` leaves as gradient with buckets equals what it leaves without.
template <class Head, class Use>
void expect_as_without_buckets(const Use& use) {
  const OneRank<Head> plain(nullptr);
  use(plain);
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const OneRank<Head> reduced(borrowed);
    use(reduced);
    EXPECT_EQ(reduced.gradient(), plain.gradient());
  });
}

TYPED_TEST(EarlyGradientOf, lies_in_the_bucket_before_backward_runs) {
  run_ranks(1, [&](Communicator& comm) {
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    const OneRank<TypeParam> head(borrowed);
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

TEST(EarlyGradientOfATiedHead, is_never_copied) {
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

TYPED_TEST(EarlyGradientOf, survives_the_backward_of_a_later_forward) {
  expect_as_without_buckets<TypeParam>([](const OneRank<TypeParam>& head) {
    const Tensor first = head.loss(1);
    const Tensor second = head.loss(2);
    second.backward();
    first.backward();
  });
}

TYPED_TEST(EarlyGradientOf, of_two_forwards_in_one_backward_is_neither_lost_nor_added_twice) {
  expect_as_without_buckets<TypeParam>(
      [](const OneRank<TypeParam>& head) { (head.loss(1) + head.loss(2)).backward(); });
}

TYPED_TEST(EarlyGradientOf, survives_in_a_graph_that_is_kept) {
  expect_as_without_buckets<TypeParam>([](const OneRank<TypeParam>& head) {
    const Tensor loss = head.loss(1);
    backward(std::span(&loss, 1), std::vector<Tensor>(1), {.keep_graph = true});
    loss.backward();
  });
}

TYPED_TEST(EarlyGradientOf, of_a_forward_that_is_dropped_leaves_no_trace) {
  expect_as_without_buckets<TypeParam>([](const OneRank<TypeParam>& head) {
    static_cast<void>(head.loss(1));
    head.loss(2).backward();
  });
}

TYPED_TEST(EarlyGradientOf, does_not_touch_a_gradient_that_nobody_took) {
  expect_as_without_buckets<TypeParam>([](const OneRank<TypeParam>& head) {
    head.loss(1).backward();
    static_cast<void>(head.loss(2));
  });
}

}  // namespace
}  // namespace tessera::dist
