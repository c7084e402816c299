// What is written to a tensor is noticed through every kind of view of it, and the other way round.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/autograd/boundary.h>
#include <tessera/core/base/error.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/as_strided.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/dlpack.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// A way to make a view of a (2, 1, 3) tensor.
struct Way {
  std::string name;
  std::function<Tensor(const Tensor&)> view;
  bool on_tape = true;  ///< gradients flow through it
};

Tensor behind_boundary(const Tensor& x) {
  return make_boundary(std::span(&x, 1), [](std::vector<Tensor> g) { return g; })[0];
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"slice", [](const Tensor& x) { return slice(x, 2, 1, 3); }},
      {"select", [](const Tensor& x) { return select(x, 0, 1); }},
      {"reshape",
       [](const Tensor& x) {
         return reshape(x, {3, 2});
       }},
      {"permute",
       [](const Tensor& x) {
         return permute(x, {2, 0, 1});
       }},
      {"transpose", [](const Tensor& x) { return transpose(x, 0, 2); }},
      {"squeeze", [](const Tensor& x) { return squeeze(x, 1); }},
      {"unsqueeze", [](const Tensor& x) { return unsqueeze(x, 0); }},
      {"expand",
       [](const Tensor& x) {
         return expand(x, {2, 4, 3});
       }},
      {"index",
       [](const Tensor& x) {
         return index(x, {1, kRest});
       }},
      {"as_strided",
       [](const Tensor& x) {
         return as_strided(x, {.shape = {2, 2}, .strides = {2, 1}, .offset = 1});
       }},
      {"boundary", behind_boundary},
      {"slice of a boundary", [](const Tensor& x) { return slice(behind_boundary(x), 2, 0, 2); }},
      {"boundary of a slice", [](const Tensor& x) { return behind_boundary(slice(x, 2, 0, 2)); }},
      {"detach", [](const Tensor& x) { return x.detach(); }, false},
      {"dlpack", [](const Tensor& x) { return from_dlpack(to_dlpack(x.detach())); }, false},
      {"slice through dlpack",
       [](const Tensor& x) { return from_dlpack(to_dlpack(slice(x.detach(), 2, 1, 3))); }, false},
  };
  return all;
}

TEST(ChangedBases, all_views_that_ops_make_are_tried) {
  for (const OpDef* op : registered_ops()) {
    const std::string name = op->info.name;
    if (op->info.view && !name.ends_with("_microbatches")) {  // made inside the pipeline alone
      const bool tried = std::ranges::any_of(
          ways(), [&](const Way& way) { return way.name.find(name) != std::string::npos; });
      EXPECT_TRUE(tried) << name;
    }
  }
}

/// Tells what throws InvalidArgument or RuntimeError, which are the errors of a write in place.
bool refuses(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidArgument&) {
    return true;
  } catch (const RuntimeError&) {
    return true;
  }
  return false;
}

struct ChangedBases : testing::TestWithParam<Way> {
  Tensor leaf = ones({2, 1, 3}).set_requires_grad(true);
  Tensor base = leaf * 1.0;
};

TEST_P(ChangedBases, count_the_writes_of_both_sides) {
  const Tensor view = GetParam().view(base);
  const std::uint32_t before = base.version();
  {
    const NoGradGuard off_the_tape;
    mul_(base, 2);
  }
  EXPECT_EQ(view.version(), base.version());
  EXPECT_NE(view.version(), before);
  const std::uint32_t between = base.version();
  if (GetParam().name != "expand") {  // whose elements share memory
    const NoGradGuard off_the_tape;
    mul_(view, 2);
    EXPECT_NE(base.version(), between);
  }
}

TEST_P(ChangedBases, refuse_gradients_that_need_what_is_gone) {
  const Tensor view = GetParam().view(base);
  const Tensor y = sum_to(base * base, {});
  if (GetParam().name == "expand") {
    return;
  }
  {
    const NoGradGuard off_the_tape;
    mul_(view, 2);
  }
  EXPECT_TRUE(refuses([&] { y.backward(); }));
}

/// A view that was made before its base was changed is used afterwards: the gradient is that of the
/// changed elements, or there is an error.
TEST_P(ChangedBases, give_the_gradient_of_what_they_show_or_none) {
  if (!GetParam().on_tape) {
    return;
  }
  const Tensor view = GetParam().view(base);
  const Tensor shown = GetParam().view(leaf.detach().set_requires_grad(true));
  mul_(base, 3);
  const bool refused = refuses([&] { sum_to(view * 10, {}).backward(); });
  if (!refused) {
    const Tensor other = ones({2, 1, 3}).set_requires_grad(true);
    sum_to(GetParam().view(other * 3.0) * 10, {}).backward();
    EXPECT_EQ(leaf.grad().to_vector<float>(), other.grad().to_vector<float>());
  }
}

TEST_P(ChangedBases, notice_what_is_written_by_a_tensor_with_a_gradient) {
  if (!GetParam().on_tape) {
    return;
  }
  const Tensor plain = ones({2, 1, 3});
  const Tensor view = GetParam().view(plain);
  plain.copy_(base);
  const bool refused = refuses([&] { sum_to(view, {}).backward(); });
  EXPECT_TRUE(refused || leaf.grad().defined());
}

INSTANTIATE_TEST_SUITE_P(All, ChangedBases, testing::ValuesIn(ways()), [](const auto& way) {
  std::string name = way.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

TEST(ChangedBases, that_are_strided_have_no_older_views_on_the_tape) {
  const Tensor base = transpose(zeros({2, 3}), 0, 1).detach();  // strides (1, 3), and no view
  const Tensor older = select(base, 0, 1);
  const Tensor p =
      from_values<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2}).set_requires_grad(true);
  base.copy_(p);
  EXPECT_EQ(older.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_THROW(static_cast<void>(sum_to(older, {})), Unsupported);
  sum_to(select(base, 0, 1), {}).backward();
  EXPECT_EQ(p.grad().to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 0, 0}));
}

TEST(ChangedBases, are_not_written_where_elements_share_memory) {
  const auto strided = [](const Tensor& x, const Shape& shape, const Strides& strides) {
    return as_strided(x, {.shape = shape, .strides = strides});
  };
  const Tensor x = arange(13).detach();
  for (const auto& [shape, strides] : std::vector<std::pair<Shape, Strides>>{{{2, 2}, {1, 1}},
                                                                             {{3, 3}, {2, 4}},
                                                                             {{2, 3}, {4, 2}},
                                                                             {{2, 3, 2}, {1, 1, 3}},
                                                                             {{2, 2}, {0, 1}}}) {
    EXPECT_THROW(add_(strided(x, shape, strides), 1), RuntimeError) << shape << strides;
  }
  for (const auto& [shape, strides] : std::vector<std::pair<Shape, Strides>>{
           {{3, 2}, {2, 3}}, {{2, 3}, {1, 2}}, {{2, 2}, {5, 2}}, {{1, 3}, {0, 1}}}) {
    EXPECT_NO_THROW(add_(strided(x, shape, strides), 1)) << shape << strides;
  }
}

}  // namespace
}  // namespace tessera
