// Section 2.5 and rows E7, E8, X14 and X16: trees of tensors.
#include <gtest/gtest.h>

#include <tessera/nn/layers/lazy.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

Variables example_variables() {
  return {{"fc2", Variables{{"weight", full({2}, 2)}, {"bias", full({1}, 1)}}},
          {"fc1", Variables{{"weight", full({3}, 3)}}}};
}

TEST(Variables, X14_paths_with_dots_or_slashes) {
  Variables tree = example_variables();
  EXPECT_TRUE(tree.at("fc2/weight").is(tree.at("fc2.weight")));
  EXPECT_TRUE(tree["fc1"]["weight"].leaf().is(tree.at("fc1.weight")));
  tree.at("fc1/weight") = full({3}, 9);
  EXPECT_EQ(values(tree.at("fc1.weight")), (std::vector<float>{9, 9, 9}));
  EXPECT_FALSE(tree.contains("fc3"));
  EXPECT_EQ(error_of<KeyError>([&] { static_cast<void>(tree.at("fc1")); }),
            "variables: no tensor at \"fc1\"");
  EXPECT_THROW(tree.set("fc1.weight.more", full({1}, 1)), KeyError);
}

TEST(Variables, X16_order_of_insertion_or_sorted) {
  EXPECT_EQ(names_of(example_variables().leaves()), "fc2.weight fc2.bias fc1.weight ");
  EXPECT_EQ(names_of(example_variables().alphabetical().leaves()),
            "fc1.weight fc2.bias fc2.weight ");
}

TEST(Variables, compute_leaf_by_leaf) {
  const Variables a = example_variables();
  const Variables b = a - 0.5 * a;
  EXPECT_EQ(values(b.at("fc1.weight")), (std::vector<float>{1.5, 1.5, 1.5}));
  EXPECT_EQ(values((a * a / a + a).at("fc2.weight")), (std::vector<float>{4, 4}));
  EXPECT_EQ(values(((a + 1) / 2 - 1).at("fc2.bias")), (std::vector<float>{0}));
}

TEST(Variables, places_without_a_value_leave_the_other_operand) {
  Variables gradients = example_variables();
  gradients.at("fc2.bias") = Tensor();
  const Variables after = example_variables() - 0.5 * gradients;
  EXPECT_EQ(values(after.at("fc2.bias")), (std::vector<float>{1}));
  EXPECT_EQ(values(after.at("fc2.weight")), (std::vector<float>{1, 1}));
}

TEST(Variables, diff_lists_every_difference) {
  const Variables given{
      {"fc2", Variables{{"weight", full({4}, 2, {.dtype = DType::f64})}, {"scale", full({1}, 1)}}},
      {"fc1", full({3}, 3)}};
  EXPECT_EQ(example_variables().diff(given, {.dtypes = true}),
            "shape of \"fc2.weight\": got (4,), expected (2,)\n"
            "dtype of \"fc2.weight\": got f64, expected f32\n"
            "missing: \"fc2.bias\"\n"
            "superfluous: \"fc2.scale\"\n"
            "kind of \"fc1\": got a tensor, expected a tree");
  EXPECT_THROW(static_cast<void>(example_variables() + given), StructureError);
}

TEST(Variables, parts_of_a_structure) {
  Variables part;
  part.set("fc2.bias", full({1}, 7));
  EXPECT_TRUE(part.is_substructure_of(example_variables()));
  EXPECT_FALSE(part.same_structure(example_variables()));
  part.set("fc3.bias", full({1}, 7));
  EXPECT_FALSE(part.is_substructure_of(example_variables()));
}

TEST(Variables, to_a_state_dict_and_back) {
  const StateDict state = example_variables().to_state_dict();
  EXPECT_EQ(names_of(state), "fc2.weight fc2.bias fc1.weight ");
  EXPECT_TRUE(Variables::from_state_dict(state).same_structure(example_variables()));
  EXPECT_THROW(static_cast<void>(Variables::from_state_dict({{"a", 1}})), TypeError);
}

TEST(Variables, unflatten_puts_leaves_in_order) {
  const Variables tree = example_variables().unflatten({ones({1}), Tensor(), ones({2})});
  EXPECT_EQ(tree.at("fc2.weight").shape(), Shape{1});
  EXPECT_FALSE(tree.at("fc2.bias").defined());
  EXPECT_THROW(static_cast<void>(tree.unflatten({})), StructureError);
}

TEST(E8, v_holds_parameters_once_and_can_be_set) {
  const auto model = make<TiedOuter>();
  const Variables v = model->v();
  EXPECT_EQ(names_of(v.leaves()), "inner.scale.factor ");
  EXPECT_EQ(v.aliases().at("last.factor"), "inner.scale.factor");
  EXPECT_FALSE(v.at("inner.scale.factor").requires_grad());
  const Tensor before = model->last->factor;
  model->set_v(v * 3);
  EXPECT_TRUE(before.is(model->last->factor));
  EXPECT_EQ(values(before), (std::vector<float>{6, 6, 6}));
  EXPECT_EQ(error_of<StructureError>([&] {
              model->set_v({{"a", ones({1})}});
            }),
            "TiedOuter: other variables than it has\nmissing: \"inner.scale.factor\"\nsuperfluous: "
            "\"a\"");
}

TEST(E7, variables_are_parameters_and_buffers) {
  EXPECT_EQ(names_of(make<Inner>()->variables().leaves()), "offset scale.factor ");
}

TEST(E8, setting_what_has_no_value_changes_nothing) {
  struct Mixed : Module {
    Child<Scale> known{this, "known"};
    Child<LazyLinear> lazy{this, "lazy", 2};
    Child<Scale> last{this, "last"};
  };
  const auto model = make<Mixed>();
  Variables v = model->v().map([](const Tensor& x) { return x * 3.0; });
  model->set_v(v);
  EXPECT_EQ(values(model->known->factor), (std::vector<float>{6, 6, 6}));
  v.at("known.factor") = full({3}, 9);
  v.at("lazy.bias") = ones({2});
  v.at("last.factor") = Tensor();
  EXPECT_EQ(error_of<StructureError>([&] { model->set_v(v); }),
            "Mixed: other variables than it has\nnot made yet: \"lazy.bias\"\n"
            "no value for \"last.factor\"");
  EXPECT_EQ(values(model->known->factor), (std::vector<float>{6, 6, 6}));
}

}  // namespace
}  // namespace tessera::nn::contract
