// Calls that are given an undefined tensor: the module and the argument are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/embedding_bag.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/module.h>

#include "support/error_of.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_support::error_of;

/// Adds `y` where there is one.
struct MayAdd : Module {
  [[nodiscard]] Tensor forward(const Tensor& x, const Tensor& y) const {
    return y.defined() ? x + y : x;
  }
};

struct Outer : Module {
  Child<MayAdd> add{this, "add"};
  Child<Linear> dense{this, "dense", 2, 3};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return dense(add(x, Tensor())); }
};

struct Refuses : Module {
  [[nodiscard]] Tensor forward(const Tensor&) const { fail<IoError>("no disk"); }
};

struct Middle : Module {
  Child<Refuses> inner{this, "inner"};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return inner(x); }
};

struct Deep : Module {
  Child<Middle> middle{this, "middle"};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return middle(x); }
};

TEST(UndefinedArgument, is_told_with_its_module) {
  const auto linear = make<Linear>(2, 3);
  EXPECT_THAT(error_of<InvalidArgument>([&] { linear(Tensor()); }),
              StartsWith("Linear: argument 1 of forward is an undefined tensor; "));
  EXPECT_THAT(error_of<InvalidArgument>([&] { make<BatchNorm1d>(2)(Tensor()); }),
              StartsWith("BatchNorm1d: argument 1 of forward is an undefined tensor; "));
}

TEST(UndefinedArgument, of_a_child_is_told_with_its_path) {
  EXPECT_THAT(error_of<InvalidArgument>([] { make<Outer>()(Tensor()); }),
              testing::AllOf(HasSubstr("Outer: argument 1 of forward"),
                             HasSubstr("Linear \"dense\": argument 1 of forward")));
}

TEST(UndefinedArgument, that_is_meant_is_none_of_an_error) {
  EXPECT_EQ(make<Outer>()(ones({1, 2})).shape(), (Shape{1, 3}));
  EXPECT_THAT(error_of<InvalidArgument>([] {
                make<Outer>()(ones({1, 5}));
              }),
              testing::Not(HasSubstr("undefined")));
}

TEST(UndefinedArgument, that_may_be_left_out_is_not_blamed_for_another_fault) {
  const auto bag = make<EmbeddingBag>(4, 2);
  const Tensor ids = full({2, 3}, 9, {.dtype = DType::i64});
  EXPECT_THAT(error_of<InvalidArgument>([&] { bag(ids, Tensor(), Tensor()); }),
              testing::AllOf(StartsWith("embedding_bag: id out of range"),
                             testing::Not(HasSubstr("undefined"))));
}

TEST(Errors, inside_a_forward_name_the_module) {
  const auto model = make<Outer>();
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                model(ones({1, 5}));
              }),
              testing::EndsWith(", in module dense"));
  EXPECT_EQ(error_of<IoError>([] { make<Deep>()(ones({1})); }), "no disk, in module middle.inner");
  EXPECT_EQ(error_of<IoError>([] { make<Refuses>()(ones({1})); }), "no disk");
}

TEST(UndefinedArgument, is_found_behind_hooks_and_while_sizes_are_unknown) {
  const auto linear = make<Linear>(2, 3);
  linear->register_forward_pre_hook([](const Module&, const Args&) {});
  EXPECT_THAT(error_of<InvalidArgument>([&] { linear(Tensor()); }),
              HasSubstr("argument 1 of forward is an undefined tensor"));
  EXPECT_THAT(error_of<InvalidArgument>([] { make<Linear>(kInferred, 3)(Tensor()); }),
              HasSubstr("argument 1 of forward is an undefined tensor"));
}

TEST(UndefinedArgument, cannot_be_assigned) {
  const auto norm = make<BatchNorm1d>(2);
  EXPECT_EQ(error_of<InvalidArgument>([&] { norm->running_mean.assign(Tensor()); }),
            "assign: \"running_mean\": the value is an undefined tensor");
}

TEST(UndefinedArgument, leaves_errors_of_other_kinds_as_they_are) {
  EXPECT_EQ(error_of<IoError>([] { make<Refuses>()(Tensor()); }), "no disk");
}

}  // namespace
}  // namespace tessera::nn
