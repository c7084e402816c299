// Row B4: layers whose sizes the first call tells, or a state dict.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/mean.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/optim/sgd.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

TEST(B4, lazy_linear_takes_its_features_from_its_first_input) {
  const auto lazy = make<LazyLinear>(4);
  EXPECT_EQ(lazy->repr(), "LazyLinear(in_features=0, out_features=4, bias=True)");
  EXPECT_TRUE(lazy->weight.is_uninitialized());
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(lazy->weight.shape()); }),
            "\"weight\": uninitialised; the first call of its module tells its shape");
  EXPECT_EQ(error_of<RuntimeError>([&] { lazy->share_memory(); }),
            "share_memory: \"weight\" is uninitialised");
  EXPECT_EQ(error_of<RuntimeError>([&] { lazy->state_dict(); }),
            "state_dict: LazyLinear has no \"weight\" yet: uninitialised; the first call of its "
            "module tells its shape");
  EXPECT_EQ(names_of(lazy->named_parameters()), "weight bias ");
  EXPECT_EQ(lazy(ones({2, 3})).shape(), (Shape{2, 4}));
  EXPECT_EQ(lazy->repr(), "Linear(in_features=3, out_features=4, bias=True)");
  EXPECT_TRUE(error_of<InvalidArgument>([&] { lazy(ones({2, 5})); }).starts_with("linear: "));
}

TEST(B4, the_same_values_as_with_known_features) {
  set_seed(7);
  const auto known = make<Linear>(3, 4);
  set_seed(7);
  const auto lazy = make<LazyLinear>(4);
  lazy(ones({2, 3}));
  EXPECT_EQ(values(known->weight), values(lazy->weight));
  EXPECT_EQ(values(known->bias), values(lazy->bias));
}

TEST(B4, an_optimizer_made_before_trains_it) {
  set_seed(7);
  struct Net : Module {
    Child<LazyLinear> body{this, "body", 4};
    Tensor forward(const Tensor& x) const { return body(x); }
  };
  const auto train = [](const Ptr<Net>& net, optim::SGD& optimizer) {
    for (int i = 0; i < 3; ++i) {
      mean(net(ones({2, 3}))).backward();
      optimizer.step();
    }
    return values(net->body->weight);
  };
  const auto early = make<Net>();
  optim::SGD before(early->parameters(), {.lr = 0.1, .momentum = 0.9});
  before.zero_grad();
  set_seed(7);
  const auto late = make<Net>();
  late(ones({2, 3}));
  optim::SGD after(late->parameters(), {.lr = 0.1, .momentum = 0.9});
  EXPECT_EQ(train(early, before), train(late, after));
}

TEST(B4, loaded_state_tells_shapes_too) {
  const auto known = make<Linear>(3, 4);
  const auto lazy = make<LazyLinear>(4);
  EXPECT_EQ(error_of<RuntimeError>([&] {
              lazy->load_state_dict({{"weight", ones({5, 3})}, {"bias", ones({4})}});
            }),
            "load_state_dict(LazyLinear): 1 problem\n\tshape of \"weight\": file (5, 3), module "
            "(4, -1)");
  EXPECT_TRUE(lazy->weight.is_uninitialized()) << "a refused load changes nothing";
  lazy->load_state_dict(known->state_dict());
  EXPECT_EQ(lazy->repr(), "Linear(in_features=3, out_features=4, bias=True)");
  EXPECT_EQ(values(lazy(ones({1, 3}))), values(known(ones({1, 3}))));
}

TEST(B4, casts_reach_uninitialised_parameters) {
  const auto lazy = make<LazyLinear>(4);
  lazy->to(DType::f64);
  lazy(ones({2, 3}, {.dtype = DType::f64}));
  EXPECT_EQ(lazy->weight.value().dtype(), DType::f64);
}

/// What a lazy layer prints before and after its first call, and the shapes of its state.
template <class Layer, class... A>
std::string story(const Shape& input, const A&... arguments) {
  const auto layer = make<Layer>(arguments...);
  std::string text = layer->repr() + "\n";
  layer(ones(input));
  text += layer->repr();
  for (const auto& [name, slot] : layer->named_slots()) {
    text += "\n" + name + " " + tessera::detail::concat(slot->value.shape());
  }
  return text;
}

TEST(B4, convolutions) {
  EXPECT_EQ(story<LazyConv2d>({2, 6, 8, 8}, 4, 3),
            "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1))\n"
            "Conv2d(6, 4, kernel_size=(3, 3), stride=(1, 1))\n"
            "weight (4, 6, 3, 3)\nbias (4,)");
  EXPECT_EQ(story<LazyConv1d>({2, 6, 8}, 4, 3, ConvOptions{.groups = 2}),
            "LazyConv1d(0, 4, kernel_size=(3,), stride=(1,), groups=2)\n"
            "Conv1d(6, 4, kernel_size=(3,), stride=(1,), groups=2)\n"
            "weight (4, 3, 3)\nbias (4,)");
  EXPECT_EQ(story<LazyConvTranspose2d>({2, 6, 4, 4}, 4, 3),
            "LazyConvTranspose2d(0, 4, kernel_size=(3, 3), stride=(1, 1))\n"
            "ConvTranspose2d(6, 4, kernel_size=(3, 3), stride=(1, 1))\n"
            "weight (6, 4, 3, 3)\nbias (4,)");
}

TEST(B4, norms) {
  EXPECT_EQ(story<LazyBatchNorm2d>({2, 6, 4, 4}),
            "LazyBatchNorm2d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, "
            "track_running_stats=True)\n"
            "BatchNorm2d(6, eps=1e-05, momentum=0.1, affine=True, bias=True, "
            "track_running_stats=True)\n"
            "weight (6,)\nbias (6,)\nrunning_mean (6,)\nrunning_var (6,)\nnum_batches_tracked ()");
  EXPECT_EQ(story<LazyInstanceNorm1d>({2, 6, 4}),
            "LazyInstanceNorm1d(0, eps=1e-05, momentum=0.1, affine=False, bias=False, "
            "track_running_stats=False)\n"
            "InstanceNorm1d(6, eps=1e-05, momentum=0.1, affine=False, bias=False, "
            "track_running_stats=False)");
}

TEST(LazyLayers, that_refuse_their_first_input_are_as_before) {
  const auto conv = make<LazyConv2d>(4, 3, ConvOptions{.padding = "same", .groups = 2});
  EXPECT_THROW(static_cast<void>((*conv)(ones({1, 3, 5, 5}))), ValueError);
  EXPECT_EQ((*conv)(ones({1, 4, 5, 5})).shape(), (Shape{1, 4, 5, 5}));
  const auto linear = make<LazyLinear>(2);
  EXPECT_THROW(static_cast<void>((*linear)(ones({2, 0}))), ValueError);
  EXPECT_EQ((*linear)(ones({2, 3})).shape(), (Shape{2, 2}));
}

TEST(LazyLayers, norms_without_weights_learn_their_size_from_what_is_loaded) {
  const BatchNormOptions options{.affine = false};
  const auto norm = make<LazyBatchNorm1d>(options);
  norm->load_state_dict(make<BatchNorm1d>(4, options)->state_dict());
  EXPECT_EQ((*norm)(ones({2, 4})).shape(), (Shape{2, 4}));
}

}  // namespace
}  // namespace tessera::nn::contract
