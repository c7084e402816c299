#include <sstream>

#include <gtest/gtest.h>

#include <tessera/core/autograd/print_tape.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/tessera.h>

namespace tessera {
namespace {

std::string tape_of(const Tensor& root) {
  std::ostringstream text;
  print_tape(text, root);
  return text.str();
}

template <class A>
std::string printed(const A& attrs) {
  std::ostringstream text;
  kAttrsType<A>.print(text, &attrs);
  return text.str();
}

TEST(PrintTape, a_model_is_listed_op_by_op_with_shapes_and_names) {
  const auto model = nn::make<nn::Sequential>();
  model->add<nn::Linear>(4, 3);
  model->add<nn::ReLU>();
  const Tensor loss = mean((*model)(ones({2, 4})));
  EXPECT_EQ(tape_of(loss),
            "%0 = linear{dtype=f32}(f32 (2, 4), leaf \"0.weight\" f32 (3, 4), leaf \"0.bias\" f32 "
            "(3,)) -> f32 (2, 3)\n"
            "%1 = relu(%0) -> f32 (2, 3)\n"
            "%2 = mean{dims=(), keepdim=false}(%1) -> f32 ()\n");
}

TEST(PrintTape, an_output_of_several_and_an_absent_input_are_told) {
  const Tensor x = ones({2, 2}).set_requires_grad(true);
  x.get().set_microbatches({.count = 2, .dim = 0});
  const Outputs parts = unbind_microbatches(x);
  EXPECT_EQ(tape_of(linear(parts[1], ones({3, 2}))),
            "%0 = unbind_microbatches(leaf f32 (2, 2) of 2 microbatches along dim 0) -> f32 (1, "
            "2), f32 (1, 2)\n"
            "%1 = linear{dtype=f32}(%0.1, f32 (3, 2), none) -> f32 (1, 3)\n");
}

TEST(PrintTape, what_no_recorded_op_computed_has_no_lines) {
  EXPECT_EQ(tape_of(ones({2})), "");
  EXPECT_EQ(tape_of(ones({2}).set_requires_grad(true)), "");
}

TEST(PrintTape, a_long_chain_is_listed_without_recursion) {
  Tensor x = ones({1}).set_requires_grad(true);
  constexpr int kOps = 100'000;
  for (int i = 0; i < kOps; ++i) {
    x = -x;
  }
  const std::string text = tape_of(x);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kOps);
  EXPECT_TRUE(text.ends_with("%99999 = neg(%99998) -> f32 (1,)\n"));
}

TEST(Attributes, print_their_fields_by_name) {
  EXPECT_EQ(printed(Relu::Attrs{}), "");
  EXPECT_EQ(printed(Sum::Attrs{.dims = {0, 2}, .keepdim = true}), "{dims=(0, 2), keepdim=true}");
  EXPECT_EQ(printed(Clamp::Attrs{.low = 2, .high = 0.5}), "{low=2, high=0.5}");
  EXPECT_EQ(printed(JoinMicrobatches::Attrs{.dim = 1}), "{dim=1, samples=-1}");
  EXPECT_EQ(printed(RandomLike::Attrs{.draw = {.key = 7}}),
            "{distribution=uniform, draw={key=7, first_sample=0, samples=1, per_sample=1, box=[] "
            "of ()}}");
  EXPECT_EQ(printed(Norm::Attrs{.p = 1}), "{reduce={dims=(), keepdim=false}, p=1}");
}

TEST(Attributes, compare_field_by_field) {
  const AttrsType& type = kAttrsType<Sum::Attrs>;
  const Sum::Attrs a{.dims = {0}}, same{.dims = {0}}, other{.dims = {0}, .keepdim = true};
  EXPECT_TRUE(type.equal(&a, &same));
  EXPECT_FALSE(type.equal(&a, &other));
}

}  // namespace
}  // namespace tessera
