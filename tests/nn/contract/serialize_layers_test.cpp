// Row K8: Tessera's own layers as bytes, and classes that tell what their constructors take.
#include <gtest/gtest.h>

#include <tessera/nn/io/sealed_bytes.h>
#include <tessera/nn/io/value_bytes.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/state/serialize.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

/// What its bytes give, which must be a module of the same form and of the same bytes.
ModulePtr remade(const Module& module) {
  const auto bytes = serialize(module);
  ModulePtr copy = deserialize(bytes);
  EXPECT_EQ(copy->repr(), module.repr());
  EXPECT_EQ(serialize(*copy), bytes);
  return copy;
}

Ptr<Sequential> images() {
  const auto model = make<Sequential>();
  model->add<Conv2d>(2, 4, 3, ConvOptions{.padding = "same", .bias = false});
  model->add<BatchNorm2d>(4, BatchNormOptions{.momentum = std::nullopt});
  model->add<ReLU>(true);
  model->add<Flatten>();
  model->add<Linear>(4 * 6 * 6, 3);
  return model;
}

TEST(K8, own_layers_compute_the_same_bits) {
  const auto model = images();
  const Tensor x = full({2, 2, 6, 6}, 0.5);
  model(x);
  const ModulePtr trained = remade(*model);
  EXPECT_EQ(values((*trained)(x)), values(model(x)));
  model->eval();
  const ModulePtr copy = remade(*model);
  EXPECT_FALSE(copy->training());
  EXPECT_EQ(values((*copy)(x)), values(model(x)));
}

// --- layers that wait for their first call -------------------------------------------------------

TEST(K8, lazy_layers_wait_again_and_become_the_same) {
  const auto model = make<Sequential>();
  model->add<LazyConv2d>(4, 3, ConvOptions{.groups = 2});
  model->add<LazyBatchNorm2d>();
  model->add<Flatten>();
  model->add<LazyLinear>(3);
  model->add<LazyLinear>(3);
  model->to_double();
  const ModulePtr copy = remade(*model);
  EXPECT_FALSE(copy->built());
  const Tensor x = full({2, 2, 5, 5}, 0.5, {.dtype = DType::f64});
  EXPECT_EQ((*copy)(x).to_vector<double>(), model(x).to_vector<double>());
  EXPECT_TRUE(copy->built());
  EXPECT_EQ(serialize(*copy), serialize(*model));
}

TEST(K8, built_lazy_layers_keep_their_sizes) {
  const auto model = make<Sequential>();
  model->add<LazyConv2d>(4, 3);
  model->add<LazyBatchNorm2d>(BatchNormOptions{.affine = false, .track_running_stats = false});
  const Tensor x = full({2, 2, 5, 5}, 0.5);
  model(x);
  const ModulePtr copy = remade(*model);
  EXPECT_TRUE(copy->built());
  EXPECT_EQ(values((*copy)(x)), values(model(x)));
  EXPECT_EQ(error_of<InvalidArgument>([&] { (*copy)(ones({2, 3})); }).substr(0, 6), "Conv2d");
}

// --- classes of one's own ------------------------------------------------------------------------

namespace shades {
enum class Shade : std::uint8_t { light, dark };
[[nodiscard]] constexpr auto names_of(Shade /*of_this_type*/) {
  return std::array<std::string_view, 2>{"light", "dark"};
}
}  // namespace shades
using shades::Shade;
enum class Hue : std::int8_t { red = -3, blue = 7 };

struct PaintOptions {
  Shade shade = Shade::light;
  std::optional<double> gloss = {};
  std::vector<std::string> layers = {};

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("shade", options.shade);
    f("gloss", options.gloss);
    f("layers", options.layers);
  }
};

/// Any kind of argument; a list whose children its constructor does not know; a lazy child.
struct Paint : Module {
  Paint(Hue hue, const Shape& shape, const PaintOptions& options, bool wet, float share)
      : hue_(hue), shape_(shape), options_(options), wet_(wet), share_(share) {}
  [[nodiscard]] auto arguments() const { return std::tuple(hue_, shape_, options_, wet_, share_); }
  Hue hue_;
  Shape shape_;
  PaintOptions options_;
  bool wet_;
  float share_;
  Child<LazyLinear> mix{this, "mix", 4};
  Child<Dropout> drip{this, "drip", 0.5};
  Child<ModuleList<Linear>> coats{this, "coats"};
  Tensor forward(const Tensor& x) const {
    Tensor y = mix(x);
    for (const auto& coat : *coats) {
      y = coat(y);
    }
    return drip(y);
  }
};

Ptr<Paint> paint() {
  static const bool once = [] {
    register_class<Paint>("Paint");
    return true;
  }();
  static_cast<void>(once);
  const PaintOptions options{.shade = Shade::dark, .gloss = 0.25, .layers = {"a", ""}};
  return make<Paint>(Hue::red, Shape{2, 0, 5}, options, true, 0.1F);
}

TEST(K8, classes_are_made_again_from_their_arguments) {
  const ModulePtr copy = remade(*paint());
  const auto& made = dynamic_cast<const Paint&>(*copy);
  EXPECT_EQ(made.hue_, Hue::red);
  EXPECT_EQ(made.shape_, (Shape{2, 0, 5}));
  EXPECT_EQ(made.options_.shade, Shade::dark);
  EXPECT_EQ(made.options_.gloss, 0.25);
  EXPECT_EQ(made.options_.layers, (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(made.wet_);
  EXPECT_EQ(made.share_, 0.1F);
}

TEST(K8, children_come_back_that_the_constructor_makes_otherwise) {
  const auto model = paint();
  model->coats->add(4, 4);
  model->coats->add(4, 2);
  model->set_submodule("drip", make<Dropout>(0.0));
  const Tensor x = ones({2, 3});
  model(x);
  const ModulePtr copy = remade(*model);
  EXPECT_EQ(dynamic_cast<const Paint&>(*copy).coats->size(), 2U);
  EXPECT_EQ(values((*copy)(x)), values(model(x)));
}

TEST(K8, weights_of_losses_come_back) {
  const Tensor weight = full({3}, 2);
  const auto loss = make<CrossEntropyLoss>(CrossEntropyLossOptions{
      .weight = weight, .reduction = Reduction::none, .label_smoothing = 0.5});
  const ModulePtr copy = remade(*loss);
  const auto& made = dynamic_cast<const CrossEntropyLoss&>(*copy);
  EXPECT_EQ(values(made.weight), values(weight));
  const auto [options] = made.arguments();
  EXPECT_EQ(options.reduction, Reduction::none);
  EXPECT_EQ(options.label_smoothing, 0.5);
}

TEST(K8, names_of_own_layers_are_taken) {
  EXPECT_EQ(error_of<KeyError>([] { register_class<Leaf>("Linear"); }),
            "register_class: \"Linear\" is registered already");
  EXPECT_EQ(error_of<KeyError>([] { register_class<Linear>("MyLinear"); }),
            "register_class: the class of \"MyLinear\" is registered already, as \"Linear\"");
}

// --- bytes that hold something else --------------------------------------------------------------

/// What reading says of `module` with another config.
std::string complaint(const Module& module, const Value& config) {
  const Value saved = value_from_bytes(unseal(serialize(module), "test"), "test");
  auto all = saved.get<Value::Map>();
  auto root = all.at("module").get<Value::Map>();
  root.set("config", config);
  all.set("module", root);
  const std::string begin = "deserialize: the bytes hold no module: config of ";
  const std::string text =
      error_of<IoError>([&] { static_cast<void>(deserialize(seal(to_bytes(all)))); });
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

TEST(K8, wrong_arguments_are_named) {
  const auto linear = make<Linear>(3, 2);
  const auto with = [&](const Value& options) {
    return complaint(*linear, Value::List{3, 2, options});
  };
  EXPECT_EQ(with(Value::Map{{"bias", 1}}),
            "\"Linear\": argument 2: bias: value: wrong kind; got an integer, expected a bool");
  EXPECT_EQ(with(Value::Map{}), "\"Linear\": argument 2: \"bias\" is missing");
  EXPECT_EQ(with(Value::Map{{"bias", true}, {"biass", true}}),
            "\"Linear\": argument 2: no \"biass\" is known");
  EXPECT_EQ(with(true), "\"Linear\": argument 2: value: wrong kind; got a bool, expected a map");
  EXPECT_EQ(complaint(*linear, Value::List{3}),
            "\"Linear\": wrong number of arguments; got 1, expected 3");
  EXPECT_EQ(complaint(*linear, Value::List{0, 2, Value::Map{{"bias", true}}}),
            "\"Linear\": Linear: features must be positive; got 0 in and 2 out");
}

TEST(K8, wrong_enums_and_numbers_are_named) {
  const auto with = [](const Value& hue, const char* shade) {
    const Value::Map options{{"shade", shade}, {"gloss", Value()}, {"layers", Value::List{}}};
    return complaint(*paint(), Value::List{hue, Value::List{2}, options, true, 0.5});
  };
  EXPECT_EQ(with(7, "grey"),
            "\"Paint\": argument 2: shade: unknown name; got \"grey\", expected one of light, "
            "dark");
  EXPECT_EQ(with(300, "dark"), "\"Paint\": argument 0: an integer out of range; got 300");
}

}  // namespace
}  // namespace tessera::nn::contract
