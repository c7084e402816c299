// Rows A2 to A9, A14, A17, B1 to B3, I-1, I-2, I-4, I-5, X11, X29, X31: when modules make their
// state, and of what.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/optim/sgd.h>

#include "models.h"

namespace tessera::nn::contract {
namespace {

using ::testing::Test;

std::vector<float> values(const Tensor& x) {
  return x.to_vector<float>();
}

/// Two layers; how often `do_build` ran, and with what, is counted.
struct Mlp : Module {
  explicit Mlp(std::int64_t in = 3, std::int64_t out = 2)
      : hidden(this, "hidden", in, 4), last(this, "last", 4, out) {}
  Child<Linear> hidden;
  Child<Linear> last;
  int builds = 0;
  std::size_t arguments = 0;

  Tensor forward(const Tensor& x) const { return last(hidden(x)); }

 protected:
  bool do_build(const Args& args, const Kwargs& /*kwargs*/) override {
    ++builds;
    arguments = args.size();
    return true;
  }
};

/// Makes a layer for the features of its first input, and a gain.
struct Shaped : Module {
  Child<Linear> head{this, "head", 4, 1};
  Tensor forward(const Tensor& x) const {
    const Module& body = get_submodule("body");
    return head(body(x) * get_parameter("gain"));
  }

 protected:
  bool do_build(const Args& args, const Kwargs& /*kwargs*/) override {
    register_module("body", make<Linear>(args.at(0).tensor().size(-1), 4));
    return true;
  }
  void create_variables(Device /*device*/, DType dtype) override {
    register_parameter("gain", ones({4}, {.dtype = dtype}));
  }
};

/// Reads values, so that only a call can tell what it calls.
struct Reading : Module {
  Child<Linear> small{this, "small", 3, 2};
  Child<Linear> large{this, "large", 3, 4};
  Tensor forward(const Tensor& x) const { return sum(x).item<float>() < 100 ? small(x) : large(x); }
};

struct Seeded : Test {
  void SetUp() override { set_seed(7); }
};

using Building = Seeded;

// --- A8, A17, B1, I-4: three modes --------------------------------------------------------------

TEST_F(Building, A8_OnInitIsBuiltByMake) {
  const auto model = make<Mlp>();
  EXPECT_TRUE(model->built());
  EXPECT_EQ(model->build_mode(), BuildMode::on_init);
  EXPECT_EQ(model->builds, 1);
  EXPECT_EQ(model->arguments, 0U);
}

TEST_F(Building, A8_ExplicitWaitsForBuildAndSaysSo) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_FALSE(model->built());
  EXPECT_EQ(thrown<RuntimeError>([&] {
              model(ones({2, 3}));
            }),
            "Mlp: is not built; call build() first (build mode \"explicit\")");
  EXPECT_TRUE(model->build());
  EXPECT_TRUE(model->built());
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 2}));
}

TEST_F(Building, A8_OnCallIsBuiltByItsFirstCall) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::on_call});
  const BuildStatus status = model->build();
  EXPECT_FALSE(status) << "build does not stand in for the call";
  EXPECT_TRUE(status.variables.leaves().empty());
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 2}));
  EXPECT_TRUE(model->built());
  EXPECT_EQ(model->builds, 1);
  EXPECT_EQ(model->arguments, 1U);
  model(ones({2, 3}));
  EXPECT_EQ(model->builds, 1);
}

TEST_F(Building, A8_ModesAsText) {
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    EXPECT_EQ(parse_build_mode(to_string(mode)), mode);
  }
  EXPECT_EQ(thrown<ValueError>([] { static_cast<void>(parse_build_mode("later")); }),
            "build mode: unknown text; got \"later\", expected on_init, explicit or on_call");
}

TEST_F(Building, ValuesDoNotDependOnTheMode) {
  const auto at_once = make<Mlp>();
  set_seed(7);
  const auto later = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  set_seed(7);
  const auto last = make<Mlp>(ModuleOptions{.build_mode = BuildMode::on_call});
  set_seed(100);  // what counts is the seed of the make
  later->build();
  last(ones({1, 3}), CallOptions{.key = RandomKey{5, 6}});
  for (const auto& [name, parameter] : at_once->named_parameters()) {
    EXPECT_EQ(values(parameter), values(later->get_parameter(name))) << name;
    EXPECT_EQ(values(parameter), values(last->get_parameter(name))) << name;
    EXPECT_EQ(last->get_parameter(name).name(), name);
  }
}

TEST_F(Building, B1_TheFirstCallUnderAutocastStillMakesPlainParameters) {
  const auto at_once = make<Mlp>();
  set_seed(7);
  const auto later = make<Mlp>(ModuleOptions{.build_mode = BuildMode::on_call});
  {
    const AutocastScope autocast(DType::bf16);
    later(ones({1, 3}));
  }
  EXPECT_EQ(values(at_once->hidden->weight), values(later->hidden->weight));
  EXPECT_EQ(later->hidden->weight.value().dtype(), DType::f32);
}

TEST_F(Building, B1_StatusHoldsTheParametersX11) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  const BuildStatus status = model->build();
  EXPECT_TRUE(status.complete);
  EXPECT_EQ(names_of(status.variables.leaves()),
            "hidden.weight hidden.bias last.weight last.bias ");
}

TEST_F(Building, B1_BuildTakesDeviceAndDtype) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->build({}, {}, BuildOptions{.device = Device::parse("meta"), .dtype = DType::f64});
  EXPECT_EQ(model->hidden->weight.value().device(), Device::parse("meta"));
  EXPECT_EQ(model->last->bias.value().dtype(), DType::f64);
}

TEST_F(Building, A14_BuildArgumentsAreKeptAndForwarded) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->build({Value(3), Value("text")}, {{"key", Value(true)}});
  EXPECT_EQ(model->arguments, 2U);
  EXPECT_EQ(model->build_args().at(1).get<std::string>(), "text");
  EXPECT_TRUE(model->build_kwargs().at("key").get<bool>());
}

TEST_F(Building, B2_B3_WhatACallTellsAndVariablesOfItsOwn) {
  const auto model = make<Shaped>(ModuleOptions{.build_mode = BuildMode::on_call});
  EXPECT_EQ(model(ones({2, 5}, {.dtype = DType::f64})).shape(), (Shape{2, 1}));
  EXPECT_EQ(names_of(model->named_parameters()),
            "gain head.weight head.bias body.weight body.bias ");
  EXPECT_EQ(model->get_parameter("body.weight").shape(), (Shape{4, 5}));
}

TEST_F(Building, I4_APartlyBuiltParentAndAChildThatItsFirstCallBuilds) {
  struct Parent : Module {
    Child<Linear> first{this, "first", 3, 4};
    Child<Shaped> second{this, "second", ModuleOptions{.build_mode = BuildMode::on_call}};
    Tensor forward(const Tensor& x) const { return second(first(x)); }
  };
  const auto model = make<Parent>();
  EXPECT_FALSE(model->built());
  EXPECT_TRUE(model->first->built());
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 1}));
  EXPECT_TRUE(model->built());
}

TEST_F(Building, I4_AnExplicitChildWaitsOnItsOwn) {
  struct Parent : Module {
    Child<Linear> body{this, "body", ModuleOptions{.build_mode = BuildMode::explicitly}, 3, 4};
    Tensor forward(const Tensor& x) const { return body(x); }
  };
  const auto model = make<Parent>();
  EXPECT_FALSE(model->built());
  EXPECT_EQ(thrown<RuntimeError>([&] {
              model(ones({2, 3}));
            }),
            "Linear: is not built; call build() first (build mode \"explicit\")");
  model->body->build();
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 4}));
}

TEST_F(Building, AFailedBuildLeavesNoNames) {
  struct Failing : Module {
    bool fails = true;
    Tensor forward(const Tensor& x) const { return x; }

   protected:
    bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) override {
      register_parameter("weight", ones({2}));
      check<ValueError>(!fails, "not yet");
      return true;
    }
  };
  const auto model = make<Failing>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_EQ(thrown<ValueError>([&] { model->build(); }), "not yet");
  EXPECT_TRUE(model->slot_entries().empty());
  model->fails = false;
  EXPECT_TRUE(model->build());
  EXPECT_EQ(names_of(model->named_parameters()), "weight ");
}

TEST_F(Building, F_PureCallsDoNotBuild) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::on_call});
  EXPECT_EQ(thrown<RuntimeError>([&] {
              static_cast<void>(call(model, ones({1, 3})));
            }),
            "Mlp: is not built; a pure call does not build");
  EXPECT_FALSE(model->built());
}

TEST_F(Building, E1_ListsOfAnUnbuiltTreeNameTheModule) {
  struct Parent : Module {
    Child<Linear> first{this, "first", 3, 4};
    Child<Mlp> second{this, "second", ModuleOptions{.build_mode = BuildMode::on_call}, 4};
  };
  const auto model = make<Parent>();
  const std::string expected = "Mlp: is not built, so its state is not known; call it first";
  EXPECT_EQ(thrown<RuntimeError>([&] { static_cast<void>(model->named_parameters()); }), expected);
  EXPECT_EQ(thrown<RuntimeError>([&] { static_cast<void>(model->named_modules()); }), expected);
  EXPECT_EQ(thrown<RuntimeError>([&] { model->state_dict(); }), expected);
  EXPECT_EQ(thrown<RuntimeError>([&] { model->load_state_dict({}); }), expected);
  model->eval();
  EXPECT_FALSE(model->second->training()) << "modes reach what is not built";
}

TEST_F(Building, WhatBuildMakesHasTheModulesMode) {
  const auto model = make<Shaped>(ModuleOptions{.build_mode = BuildMode::on_call});
  model->eval();
  model(ones({2, 5}));
  EXPECT_FALSE(model->get_submodule("body").training());
}

// --- A2 to A5: name, device, dtype ---------------------------------------------------------------

TEST_F(Building, A2_TheNameIsKept) {
  EXPECT_EQ(make<Linear>(ModuleOptions{.name = "fc"}, 3, 4)->name(), "fc");
  EXPECT_FALSE(make<Linear>(3, 4)->name());
  EXPECT_EQ(make<Linear>(ModuleOptions{.name = "fc"}, 3, 4)->class_name(), "Linear");
}

TEST_F(Building, A3_DeviceReachesAllBelow) {
  const auto model = make<Outer>(ModuleOptions{.device = Device::parse("meta")});
  EXPECT_EQ(model->inner->scale->factor.value().device(), Device::parse("meta"));
  EXPECT_EQ(model->inner->device(), Device::parse("meta"));
  EXPECT_EQ(make<Outer>()->device(), Device());
}

TEST_F(Building, A4_X29_DevicesAreKeptAndHoldTheDevice) {
  const std::vector<Device> devices{Device::parse("meta"), Device::parse("cpu")};
  const auto model = make<Linear>(ModuleOptions{.devices = devices}, 3, 4);
  EXPECT_EQ(model->devices(), devices);
  EXPECT_EQ(model->device(), devices[0]);
  EXPECT_EQ(make<Linear>(3, 4)->devices(), std::vector<Device>{Device()});
  EXPECT_EQ(thrown<ValueError>([&] {
              make<Linear>(ModuleOptions{.device = Device::parse("cuda:1"), .devices = devices}, 3,
                           4);
            }),
            "ModuleOptions: the device is none of devices; got cuda:1");
}

TEST_F(Building, A5_DtypeOfOptionsElseF32) {
  const auto model = make<Mlp>(ModuleOptions{.dtype = DType::f64});
  EXPECT_EQ(model->last->weight.value().dtype(), DType::f64);
  EXPECT_EQ(make<Mlp>()->last->weight.value().dtype(), DType::f32);
}

TEST_F(Building, A5_AnInnerModuleMayHaveItsOwn) {
  struct Mixed : Module {
    Child<Linear> low{this, "low", ModuleOptions{.dtype = DType::bf16}, 3, 4};
    Child<Linear> high{this, "high", 3, 4};
  };
  const auto model = make<Mixed>(ModuleOptions{.dtype = DType::f64});
  EXPECT_EQ(model->low->weight.value().dtype(), DType::bf16);
  EXPECT_EQ(model->high->weight.value().dtype(), DType::f64);
}

TEST_F(Building, A5_OnCallTakesTheFirstFloatingTensorOfTheCall) {
  struct Ids : Module {
    Child<Linear> body{this, "body", 3, 4};
    Tensor forward(const Tensor& /*ids*/, const Tensor& x) const { return body(x); }
  };
  const auto model = make<Ids>(ModuleOptions{.build_mode = BuildMode::on_call});
  model(zeros({2}, {.dtype = DType::i64}), ones({2, 3}, {.dtype = DType::f64}));
  EXPECT_EQ(model->dtype(), DType::f64);
  EXPECT_EQ(model->body->weight.value().dtype(), DType::f64);
}

TEST_F(Building, CastsReachWhatIsNotBuilt) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->to(DType::f64);
  model->build();
  EXPECT_EQ(model->hidden->weight.value().dtype(), DType::f64);
}

// --- A6, A7, I-1, I-2: given variables
// ------------------------------------------------------------

Variables given_for_mlp() {
  Variables v;
  v.set("hidden.weight", full({4, 3}, 1));
  v.set("hidden.bias", full({4}, 2));
  v.set("last.weight", full({2, 4}, 3));
  v.set("last.bias", full({2}, 4));
  return v;
}

TEST_F(Building, A6_GivenVariablesAreUsedInPlaceOfNewOnes) {
  const Variables v = given_for_mlp();
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    const auto model = make<Mlp>(ModuleOptions{.v = v, .build_mode = mode});
    model->build();
    EXPECT_EQ(values(model(ones({1, 3}))), (std::vector<float>{64, 64})) << to_string(mode);
    EXPECT_TRUE(model->last->weight.value().requires_grad());
    EXPECT_TRUE(model->last->weight.value().shares_storage(v.at("last.weight")));
    EXPECT_FALSE(v.at("last.weight").requires_grad()) << "the caller's handle is left alone";
  }
}

TEST_F(Building, I1_AllDifferencesInOneError) {
  Variables v = given_for_mlp();
  v.set("last.weight", full({2, 5}, 3));
  v.set("last.bias", full({2}, 4, {.dtype = DType::f64}));
  v.set("extra.weight", ones({1}));
  Variables missing;
  for (const auto& [name, leaf] : v.leaves()) {
    if (name != "hidden.bias") {
      missing.set(name, leaf);
    }
  }
  const std::string expected =
      "Mlp: given other variables than it has\n"
      "missing: \"hidden.bias\"\n"
      "shape of \"last.weight\": got (2, 5), expected (2, 4)\n"
      "dtype of \"last.bias\": got f64, expected f32\n"
      "superfluous: \"extra.weight\"";
  EXPECT_EQ(thrown<StructureError>([&] { make<Mlp>(ModuleOptions{.v = missing}); }), expected);
  const auto on_call = make<Mlp>(ModuleOptions{.v = missing, .build_mode = BuildMode::on_call});
  EXPECT_EQ(thrown<StructureError>([&] {
              on_call(ones({1, 3}));
            }),
            expected)
      << "before anything is computed";
  const auto explicitly =
      make<Mlp>(ModuleOptions{.v = missing, .build_mode = BuildMode::explicitly});
  EXPECT_EQ(thrown<StructureError>([&] { explicitly->build(); }), expected);
}

TEST_F(Building, I2_PartOfTheVariables) {
  Variables v;
  v.set("last.bias", full({2}, 4));
  const auto whole = make<Mlp>();
  set_seed(7);
  const auto model = make<Mlp>(ModuleOptions{.v = v, .with_partial_v = true});
  EXPECT_EQ(values(model->last->bias), (std::vector<float>{4, 4}));
  EXPECT_EQ(values(model->hidden->weight), values(whole->hidden->weight));
  EXPECT_EQ(thrown<StructureError>([&] { make<Mlp>(ModuleOptions{.v = v}); }),
            "Mlp: given other variables than it has\nmissing: \"hidden.weight\"\n"
            "missing: \"hidden.bias\"\nmissing: \"last.weight\"");
  v.set("last.weights", full({2}, 4));
  EXPECT_EQ(
      thrown<StructureError>([&] { make<Mlp>(ModuleOptions{.v = v, .with_partial_v = true}); }),
      "Mlp: given other variables than it has\nsuperfluous: \"last.weights\"");
  EXPECT_NO_THROW(make<Mlp>(ModuleOptions{.v = Variables(), .with_partial_v = true}));
}

TEST_F(Building, A6_AChildsOwnVariables) {
  struct Parent : Module {
    explicit Parent(const Variables& v) : body(this, "body", ModuleOptions{.v = v}) {}
    Child<Mlp> body;
  };
  EXPECT_EQ(values(make<Parent>(given_for_mlp())->body->last->bias), (std::vector<float>{4, 4}));
}

TEST_F(Building, A6_TheVerdictOfAForwardThatReadsValuesComesWithItsCall) {
  Variables v;
  v.set("small.weight", full({2, 3}, 1));
  v.set("small.bias", full({2}, 1));
  v.set("large.weight", full({4, 3}, 1));
  v.set("large.bias", full({4}, 1));
  const auto model = make<Reading>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  EXPECT_EQ(values(model(ones({1, 3}))), (std::vector<float>{4, 4}));
  EXPECT_FALSE(model->built()) << "one branch was not taken";
  EXPECT_EQ(values(model(full({1, 3}, 100))), (std::vector<float>{301, 301, 301, 301}));
  EXPECT_TRUE(model->built());
  v.set("large.bias", full({5}, 1));
  const auto wrong = make<Reading>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  wrong(ones({1, 3}));
  EXPECT_EQ(thrown<StructureError>([&] {
              wrong(full({1, 3}, 100));
            }),
            "Reading: given other variables than it has\n"
            "shape of \"large.bias\": got (5,), expected (4,)");
}

TEST_F(Building, A6_TryingOutAForwardRunsNoHookAndDrawsNothing) {
  struct Noisy : Module {
    Child<Linear> body{this, "body", 3, 3};
    Child<Dropout> noise{this, "noise", 0.5};
    Tensor forward(const Tensor& x) const { return noise(body(x)); }
  };
  Variables v;
  v.set("body.weight", full({3, 3}, 1));
  v.set("body.bias", full({3}, 1));
  const auto plain = make<Noisy>(ModuleOptions{.v = v});
  const auto tried = make<Noisy>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  int calls = 0;
  tried->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  const auto alone = [](const Ptr<Noisy>& model) {
    const ContextScope fresh(std::make_shared<Context>());
    return values(model(ones({4, 3})));
  };
  EXPECT_EQ(alone(tried), alone(plain));
  EXPECT_EQ(calls, 1);
}

// --- A9, I-5: variables that are not kept
// ----------------------------------------------------------

TEST_F(Building, I5_ParametersThatAreNotKept) {
  const auto stored = make<Mlp>();
  set_seed(7);
  const auto model =
      make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly, .store_vars = false});
  const BuildStatus status = model->build();
  EXPECT_EQ(values(status.variables.at("last.weight")), values(stored->last->weight));
  EXPECT_TRUE(thrown<RuntimeError>([&] {
                model(ones({1, 3}));
              }).ends_with("\": built with store_vars off; every call needs CallOptions::v"));
  const Tensor x = ones({1, 3});
  EXPECT_EQ(values(model(x, CallOptions{.v = &status.variables})), values(stored(x)));
  EXPECT_FALSE(model->last->weight.slot()->value.defined());
}

TEST_F(Building, I5_WithAllModes) {
  const Variables v = given_for_mlp();
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    const auto model = make<Mlp>(ModuleOptions{.build_mode = mode, .store_vars = false});
    model->build();
    EXPECT_EQ(values(model(ones({1, 3}), CallOptions{.v = &v})), (std::vector<float>{64, 64}));
  }
}

// --- B4: shapes that the first call tells
// -----------------------------------------------------------

TEST_F(Building, B4_LazyLinearTakesItsFeaturesFromItsFirstInput) {
  const auto lazy = make<LazyLinear>(4);
  EXPECT_EQ(lazy->repr(), "LazyLinear(in_features=0, out_features=4, bias=True)");
  EXPECT_TRUE(lazy->weight.is_uninitialized());
  EXPECT_EQ(thrown<RuntimeError>([&] { static_cast<void>(lazy->weight.shape()); }),
            "\"weight\": uninitialised; the first call of its module tells its shape");
  EXPECT_EQ(thrown<RuntimeError>([&] { lazy->share_memory(); }),
            "share_memory: \"weight\" is uninitialised");
  EXPECT_EQ(names_of(lazy->named_parameters()), "weight bias ");
  EXPECT_EQ(lazy(ones({2, 3})).shape(), (Shape{2, 4}));
  EXPECT_EQ(lazy->repr(), "Linear(in_features=3, out_features=4, bias=True)");
  EXPECT_TRUE(thrown<InvalidArgument>([&] { lazy(ones({2, 5})); }).starts_with("linear: "));
}

TEST_F(Building, B4_TheSameValuesAsWithKnownFeatures) {
  const auto known = make<Linear>(3, 4);
  set_seed(7);
  const auto lazy = make<LazyLinear>(4);
  lazy(ones({2, 3}));
  EXPECT_EQ(values(known->weight), values(lazy->weight));
  EXPECT_EQ(values(known->bias), values(lazy->bias));
}

TEST_F(Building, B4_AnOptimizerMadeBeforeTrainsIt) {
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

TEST_F(Building, B4_LoadedStateTellsShapesToo) {
  const auto known = make<Linear>(3, 4);
  const auto lazy = make<LazyLinear>(4);
  EXPECT_EQ(thrown<RuntimeError>([&] {
              lazy->load_state_dict({{"weight", ones({5, 3})}, {"bias", ones({4})}});
            }),
            "load_state_dict(LazyLinear): 1 problem\n\tshape of \"weight\": file (5, 3), module "
            "(4, -1)");
  EXPECT_TRUE(lazy->weight.is_uninitialized()) << "a refused load changes nothing";
  lazy->load_state_dict(known->state_dict());
  EXPECT_EQ(lazy->repr(), "Linear(in_features=3, out_features=4, bias=True)");
  EXPECT_EQ(values(lazy(ones({1, 3}))), values(known(ones({1, 3}))));
}

TEST_F(Building, B4_CastsReachUninitialisedParameters) {
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

TEST_F(Building, B4_Convolutions) {
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

TEST_F(Building, B4_Norms) {
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

}  // namespace
}  // namespace tessera::nn::contract
