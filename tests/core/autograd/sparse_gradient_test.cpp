// Gradients kept as rows where microbatches look up different numbers of them.
#include <gtest/gtest.h>

#include <functional>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/sparse_gradient.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kRows = 4;

SparseGradient rows_of(std::int64_t first, std::int32_t microbatch_count, std::int64_t count) {
  return {.ids = zeros({count}, {.dtype = DType::i64}),
          .values = ones({count, 2}),
          .microbatch_count = microbatch_count,
          .first = first};
}

TEST(SparseGradient, knows_where_microbatches_begin) {
  EXPECT_EQ(rows_of(0, 2, 6).borders(), (Lengths{0, 3, 6}));
  EXPECT_EQ(rows_of(1, 2, 6).within(0, 4).borders(), (Lengths{0, 0, 3, 6, 6}));
  EXPECT_THROW(static_cast<void>(rows_of(3, 2, 6).within(0, 4)), InternalError);
}

TEST(SparseGradient, of_passes_has_the_lengths_of_all_microbatches) {
  const SparseGradient all =
      append_passes(std::array{rows_of(2, 2, 6), rows_of(4, 1, 1), rows_of(6, 1, 2)});
  EXPECT_EQ(all.first, 2);
  EXPECT_EQ(all.microbatch_count, 5);
  EXPECT_EQ(all.lengths, (Lengths{3, 3, 1, 0, 2}));
  EXPECT_EQ(all.count(), 9);
  EXPECT_THROW(static_cast<void>(append_passes(std::array{rows_of(2, 2, 6), rows_of(3, 1, 1)})),
               InternalError);
}

TEST(SparseGradient, of_uses_holds_each_microbatchs_rows_together) {
  const SparseGradient all = merge_uses(std::array{rows_of(0, 2, 4), rows_of(0, 2, 2)});
  EXPECT_EQ(all.borders(), (Lengths{0, 3, 6}));
}

/// A microbatch's loss: rows of `table` by id, weighted.
struct Lookup {
  Tensor ids;
  Tensor weights;
  [[nodiscard]] Tensor loss(const Tensor& table) const {
    return sum_to(embedding(table, ids) * weights, {});
  }
};

/// Microbatches that look up so many rows each.
std::vector<Lookup> lookups(std::initializer_list<std::int64_t> counts) {
  std::vector<Lookup> all;
  for (const std::int64_t count : counts) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < count; ++i) {
      ids.push_back((3 * i + count) % (kRows - 1));  // nobody names the last row
    }
    all.push_back({from_values<std::int64_t>(ids, {count}), randn({count, 2})});
  }
  return all;
}

Tensor new_table() {
  return ones({kRows, 2}).set_requires_grad(true);
}

/// The gradient of a step with a pass for each microbatch; those without rows use the table not.
std::vector<float> one_by_one(const std::vector<Lookup>& microbatches) {
  const ContextScope scope(std::make_shared<Context>());
  const auto grain = static_cast<std::int64_t>(microbatches.size());
  const Tensor table = new_table();
  for (std::int64_t m = 0; m < grain; ++m) {
    Context::current().pass = {.grain = grain,
                               .first = m,
                               .count = 1,
                               .first_sample = m,
                               .samples = 1,
                               .last = m + 1 == grain};
    const Lookup& lookup = microbatches[static_cast<std::size_t>(m)];
    const Tensor elsewhere = ones({}).set_requires_grad(true);
    (lookup.ids.numel() > 0 ? lookup.loss(table) + elsewhere : elsewhere * 1.0).backward();
  }
  return table.grad().to_vector<float>();
}

/// The same from whole gradients of the microbatches, added along the tree.
std::vector<float> along_the_tree(const std::vector<Lookup>& microbatches) {
  std::vector<Tensor> level;
  for (const Lookup& lookup : microbatches) {
    const Tensor table = new_table();
    (lookup.loss(table) * (1.0 / static_cast<double>(microbatches.size()))).backward();
    level.push_back(table.grad());
  }
  for (; level.size() > 1; level.resize(level.size() / 2)) {
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      level[i / 2] = level[i] + level[i + 1];
    }
  }
  return level[0].to_vector<float>();
}

TEST(SparseGradient, of_microbatches_of_different_lengths_is_their_tree_sum) {
  for (const auto& counts :
       {std::initializer_list<std::int64_t>{3, 5}, {7, 2, 4, 4}, {1, 9, 2, 6}}) {
    const std::vector<Lookup> microbatches = lookups(counts);
    EXPECT_EQ(one_by_one(microbatches), along_the_tree(microbatches));
  }
}

TEST(SparseGradient, of_microbatches_of_which_some_look_nothing_up_is_their_tree_sum) {
  for (const auto& counts : {std::initializer_list<std::int64_t>{0, 5},
                             {3, 0},
                             {0, 2, 0, 4},
                             {0, 0, 3, 5},
                             {5, 6, 0, 0},
                             {0, 4, 4, 0}}) {
    const std::vector<Lookup> microbatches = lookups(counts);
    EXPECT_EQ(one_by_one(microbatches), along_the_tree(microbatches));
  }
}

TEST(SparseGradient, of_unequal_microbatches_leaves_other_rows_alone) {
  const SparseGradient uneven = append_passes(std::array{rows_of(0, 1, 3), rows_of(1, 1, 1)});
  const Tensor table = full({kRows, 2}, -0.0);
  const Tensor sum = add_sparse(table, uneven, TensorMeta(table.get()));
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{4, 4, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(std::signbit(sum.to_vector<float>()[2]));
}

Tensor cubed(const Tensor& x) {
  return sum_to(x * x * x, {});
}

Tensor ids_of(std::vector<std::int64_t> ids) {
  return from_values<std::int64_t>(ids, {std::ssize(ids)});
}

std::vector<float> second_gradient(const std::function<Tensor(const Tensor& table)>& loss) {
  const Tensor table = full({3, 1}, 2).set_requires_grad(true);
  const Tensor y = loss(table);
  const Tensor first = grad(std::span(&y, 1), std::span(&table, 1), {}, {.create_graph = true})[0];
  const Tensor sum = sum_to(first, {});
  return grad(std::span(&sum, 1), std::span(&table, 1), {}, {})[0].to_vector<float>();
}

TEST(SparseGradient, of_several_uses_has_a_gradient_itself) {
  const Tensor one = ids_of({0, 1});
  const Tensor other = ids_of({0, 2});
  EXPECT_EQ(second_gradient([&](const Tensor& t) { return cubed(embedding(t, one)); }),
            (std::vector<float>{12, 12, 0}));
  EXPECT_EQ(second_gradient([&](const Tensor& t) {
              return cubed(embedding(t, one)) + cubed(embedding(t, other));
            }),
            (std::vector<float>{24, 12, 12}));
  EXPECT_EQ(second_gradient([&](const Tensor& t) {
              return cubed(embedding(t, one)) + cubed(embedding(t, other)) + cubed(t);
            }),
            (std::vector<float>{36, 24, 24}));
}

TEST(SparseGradient, of_several_uses_has_a_gradient_where_a_backward_records_it) {
  const Tensor table = full({3, 1}, 2).set_requires_grad(true);
  const Tensor y =
      cubed(embedding(table, ids_of({0, 1}))) + cubed(embedding(table, ids_of({0, 2})));
  backward(std::span(&y, 1), std::vector<Tensor>(1), {.create_graph = true});
  const Tensor sum = sum_to(table.grad(), {});
  EXPECT_EQ(grad(std::span(&sum, 1), std::span(&table, 1), {}, {})[0].to_vector<float>(),
            (std::vector<float>{24, 12, 12}));
  table.set_grad({});  // it knows the graph, which knows the leaf
}

TEST(SparseGradient, of_an_earlier_pass_does_not_see_what_its_ids_become) {
  const ContextScope scope(std::make_shared<Context>());
  const Tensor table = ones({3, 1}).set_requires_grad(true);
  const Tensor ids = ids_of({0, 1});
  for (std::int64_t m = 0; m < 2; ++m) {
    Context::current().pass = {
        .grain = 2, .first = m, .count = 1, .first_sample = m, .samples = 1, .last = m == 1};
    sum_to(embedding(table, ids), {}).backward();
    add_(ids, 1);
  }
  EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{0.5F, 1, 0.5F}));
}

TEST(SparseGradient, of_an_earlier_pass_does_not_see_what_its_seed_becomes) {
  const ContextScope scope(std::make_shared<Context>());
  const Tensor table = ones({3, 1}).set_requires_grad(true);
  const Tensor seed = ones({2, 1});
  for (std::int64_t m = 0; m < 2; ++m) {
    Context::current().pass = {
        .grain = 2, .first = m, .count = 1, .first_sample = 2 * m, .samples = 2, .last = m == 1};
    embedding(table, as_microbatches(ids_of({0, 1}), 1, 0)).backward(seed);
    fill_(seed, 10);
  }
  EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{11, 11, 0}));
}

TEST(SparseGradient, of_several_uses_may_have_no_width) {
  const ContextScope scope(std::make_shared<Context>());
  Context::current().pass = {.grain = 2, .count = 2, .samples = 4, .last = true};
  const Tensor table = ones({3, 0}).set_requires_grad(true);
  const Tensor ids = as_microbatches(ids_of({0, 1, 2, 0}), 2, 0);
  const Tensor y = cubed(embedding(table, ids)) + cubed(embedding(table, ids));
  const Tensor g = grad(std::span(&y, 1), std::span(&table, 1), {}, {.create_graph = true})[0];
  EXPECT_EQ(g.shape(), (Shape{3, 0}));
}

}  // namespace
}  // namespace tessera
