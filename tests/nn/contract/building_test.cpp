// Rows A2, A5, A8, A14, A17, B1, B2, B3, I-4, X11, X31 and the building part of E1 and F5:
// when modules make their state, where, and in which dtype.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/nn/functional/pure.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

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
  void create_variables(Device device, DType dtype) override {
    register_parameter("gain", ones({4}, {.dtype = dtype, .device = device}));
  }
};

// --- A8, A17, B1, I-4: three modes --------------------------------------------------------------

TEST(A8, on_init_is_built_by_make) {
  const auto model = make<Mlp>();
  EXPECT_TRUE(model->built());
  EXPECT_EQ(model->build_mode(), BuildMode::on_init);
  EXPECT_EQ(model->builds, 1);
  EXPECT_EQ(model->arguments, 0U);
}

TEST(X31, explicit_waits_for_build_and_says_so) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_FALSE(model->built());
  EXPECT_EQ(error_of<RuntimeError>([&] {
              model(ones({2, 3}));
            }),
            "Mlp: is not built; call build() first (build mode \"explicit\")");
  EXPECT_TRUE(model->build());
  EXPECT_TRUE(model->built());
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 2}));
}

TEST(A8, on_call_is_built_by_its_first_call) {
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

TEST(A17, modes_as_text) {
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    EXPECT_EQ(parse_build_mode(to_string(mode)), mode);
  }
  EXPECT_EQ(error_of<ValueError>([] { static_cast<void>(parse_build_mode("later")); }),
            "build mode: unknown text; got \"later\", expected on_init, explicit or on_call");
}

TEST(Building, values_do_not_depend_on_the_mode) {
  set_seed(7);
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

TEST(B1, the_first_call_under_autocast_still_makes_plain_parameters) {
  set_seed(7);
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

TEST(X11, build_gives_a_status_and_the_parameters) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  const BuildStatus status = model->build();
  EXPECT_TRUE(status.complete);
  EXPECT_EQ(names_of(status.variables.leaves()),
            "hidden.weight hidden.bias last.weight last.bias ");
}

TEST(B1, build_takes_device_and_dtype) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->build({}, {}, BuildOptions{.device = Device::parse("meta"), .dtype = DType::f64});
  EXPECT_EQ(model->hidden->weight.value().device(), Device::parse("meta"));
  EXPECT_EQ(model->last->bias.value().dtype(), DType::f64);
}

TEST(A14, build_arguments_are_kept_and_forwarded) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->build({Value(3), Value("text")}, {{"key", Value(true)}});
  EXPECT_EQ(model->arguments, 2U);
  EXPECT_EQ(model->build_args().at(1).get<std::string>(), "text");
  EXPECT_TRUE(model->build_kwargs().at("key").get<bool>());
}

TEST(B2, what_a_call_tells_and_variables_of_its_own) {
  const auto model = make<Shaped>(ModuleOptions{.build_mode = BuildMode::on_call});
  EXPECT_EQ(model(ones({2, 5}, {.dtype = DType::f64})).shape(), (Shape{2, 1}));
  EXPECT_EQ(names_of(model->named_parameters()),
            "gain head.weight head.bias body.weight body.bias ");
  EXPECT_EQ(model->get_parameter("body.weight").shape(), (Shape{4, 5}));
}

TEST(B1, building_twice_builds_once) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_TRUE(model->build());
  const Tensor weight = model->hidden->weight;
  EXPECT_TRUE(model->build());
  EXPECT_EQ(model->builds, 1);
  EXPECT_TRUE(weight.is(model->hidden->weight));
}

TEST(B2, what_a_build_leaves_for_a_call_is_not_complete) {
  struct Partly : Module {
    Tensor forward(const Tensor& x) const {
      return detail::call_as(get_submodule("late"), "late", x);
    }

   protected:
    bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) override {
      register_module("late", make<Shaped>(ModuleOptions{.build_mode = BuildMode::on_call}));
      return false;
    }
  };
  const auto model = make<Partly>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_FALSE(model->build());
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 1}));
  EXPECT_TRUE(model->built());
  EXPECT_TRUE(model->build().complete);
}

/// Says that a call completes what `do_build` made, which nothing else tells.
struct Unfinished : Module {
  Tensor forward(const Tensor& x) const { return get_submodule("body")(x); }

 protected:
  bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) override {
    register_module("body", make<Linear>(3, 2));
    return false;
  }
};

TEST(B2, a_build_that_says_partly_is_completed_by_a_call) {
  const auto model = make<Unfinished>(ModuleOptions{.build_mode = BuildMode::explicitly});
  const BuildStatus status = model->build();
  EXPECT_FALSE(status.complete);
  EXPECT_FALSE(model->built());
  EXPECT_EQ(names_of(status.variables.leaves()), "body.weight body.bias ");
  EXPECT_EQ(error_of<RuntimeError>([&] {
              static_cast<void>(call(model, ones({1, 3})));
            }),
            "Unfinished: is not built; a pure call does not build");
  EXPECT_FALSE(clone(model)->built());
  model(ones({1, 3}));
  EXPECT_TRUE(model->built());
  EXPECT_TRUE(model->build());
}

TEST(B2, what_was_given_is_compared_when_the_build_is_complete) {
  Variables given;
  given.set("body.weight", ones({2, 4}));
  const auto model = make<Unfinished>(ModuleOptions{.v = given, .with_partial_v = true});
  EXPECT_FALSE(model->built());
  EXPECT_NE(error_of<StructureError>([&] { model(ones({1, 3})); }).find("body"), std::string::npos);
}

TEST(B3, variables_of_its_own_on_the_device_and_of_the_dtype_of_the_build) {
  const Device meta = Device::parse("meta");
  const auto model = make<Shaped>(ModuleOptions{.device = meta, .build_mode = BuildMode::on_call});
  model(ones({2, 5}, {.dtype = DType::f64, .device = meta}));
  const Tensor gain = model->get_parameter("gain");
  EXPECT_EQ(gain.device(), meta);
  EXPECT_EQ(gain.dtype(), DType::f64);
  EXPECT_TRUE(gain.requires_grad());
}

TEST(I_4, a_partly_built_parent_and_a_child_that_its_first_call_builds) {
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

TEST(I_4, an_explicit_child_waits_on_its_own) {
  struct Parent : Module {
    Child<Linear> body{this, "body", ModuleOptions{.build_mode = BuildMode::explicitly}, 3, 4};
    Tensor forward(const Tensor& x) const { return body(x); }
  };
  const auto model = make<Parent>();
  EXPECT_FALSE(model->built());
  EXPECT_EQ(error_of<RuntimeError>([&] {
              model(ones({2, 3}));
            }),
            "Linear: is not built; call build() first (build mode \"explicit\"), in module body");
  model->body->build();
  EXPECT_EQ(model(ones({2, 3})).shape(), (Shape{2, 4}));
}

TEST(Building, a_failed_build_leaves_no_names) {
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
  EXPECT_EQ(error_of<ValueError>([&] { model->build(); }), "not yet");
  EXPECT_TRUE(detail::slot_entries(*model).empty());
  model->fails = false;
  EXPECT_TRUE(model->build());
  EXPECT_EQ(names_of(model->named_parameters()), "weight ");
}

TEST(Building, a_failed_build_lets_go_of_its_children) {
  struct Failing : Module {
    explicit Failing(ModulePtr child) : child_(std::move(child)) {}

   protected:
    bool do_build(const Args& /*args*/, const Kwargs& /*kwargs*/) override {
      register_module("child", child_);
      fail<ValueError>("not yet");
    }

   private:
    ModulePtr child_;
  };
  const ModulePtr child = make<Linear>(2, 2);
  const auto model = make<Failing>(ModuleOptions{.build_mode = BuildMode::explicitly}, child);
  EXPECT_THROW(model->build(), ValueError);
  EXPECT_TRUE(detail::child_entries(*model).empty());
  EXPECT_EQ(&child->top_mod(), child.get());
}

TEST(F5, pure_calls_do_not_build) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::on_call});
  EXPECT_EQ(error_of<RuntimeError>([&] {
              static_cast<void>(call(model, ones({1, 3})));
            }),
            "Mlp: is not built; a pure call does not build");
  EXPECT_FALSE(model->built());
}

TEST(E1, lists_of_an_unbuilt_tree_name_the_module) {
  struct Parent : Module {
    Child<Linear> first{this, "first", 3, 4};
    Child<Mlp> second{this, "second", ModuleOptions{.build_mode = BuildMode::on_call}, 4};
  };
  const auto model = make<Parent>();
  const std::string expected = "Mlp: is not built, so its state is not known; call it first";
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(model->named_parameters()); }),
            expected);
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(model->named_modules()); }), expected);
  EXPECT_EQ(error_of<RuntimeError>([&] { model->state_dict(); }), expected);
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict({}); }), expected);
  const auto waiting = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  EXPECT_EQ(error_of<RuntimeError>([&] { static_cast<void>(waiting->parameters()); }),
            "Mlp: is not built, so its state is not known; build() it first");
  model->eval();
  EXPECT_FALSE(model->second->training()) << "modes reach what is not built";
}

TEST(Building, what_build_makes_has_the_modules_mode) {
  const auto model = make<Shaped>(ModuleOptions{.build_mode = BuildMode::on_call});
  model->eval();
  model(ones({2, 5}));
  EXPECT_FALSE(model->get_submodule("body").training());
}

// --- A2, A5: name, dtype ------------------------------------------------------------------------

TEST(A2, the_name_is_kept) {
  EXPECT_EQ(make<Linear>(ModuleOptions{.name = "fc"}, 3, 4)->name(), "fc");
  EXPECT_FALSE(make<Linear>(3, 4)->name());
  EXPECT_EQ(make<Linear>(ModuleOptions{.name = "fc"}, 3, 4)->class_name(), "Linear");
}

TEST(A5, dtype_of_options_else_f32) {
  const auto model = make<Mlp>(ModuleOptions{.dtype = DType::f64});
  EXPECT_EQ(model->last->weight.value().dtype(), DType::f64);
  EXPECT_EQ(make<Mlp>()->last->weight.value().dtype(), DType::f32);
}

TEST(A5, an_inner_module_may_have_its_own) {
  struct Mixed : Module {
    Child<Linear> low{this, "low", ModuleOptions{.dtype = DType::bf16}, 3, 4};
    Child<Linear> high{this, "high", 3, 4};
  };
  const auto model = make<Mixed>(ModuleOptions{.dtype = DType::f64});
  EXPECT_EQ(model->low->weight.value().dtype(), DType::bf16);
  EXPECT_EQ(model->high->weight.value().dtype(), DType::f64);
}

TEST(A5, on_call_takes_the_first_floating_tensor_of_the_call) {
  struct Ids : Module {
    Child<Linear> body{this, "body", 3, 4};
    Tensor forward(const Tensor& /*ids*/, const Tensor& x) const { return body(x); }
  };
  const auto model = make<Ids>(ModuleOptions{.build_mode = BuildMode::on_call});
  model(zeros({2}, {.dtype = DType::i64}), ones({2, 3}, {.dtype = DType::f64}));
  EXPECT_EQ(model->dtype(), DType::f64);
  EXPECT_EQ(model->body->weight.value().dtype(), DType::f64);
}

TEST(A5, on_call_finds_tensors_in_named_and_nested_arguments) {
  struct Named : Module {
    Child<Linear> body{this, "body", 3, 4};
    Tensor forward(const Tensor& /*ids*/, const Kwargs& named) const {
      return body(named.at("parts").get<Value::Map>().at("x").tensor());
    }
  };
  const auto model = make<Named>(ModuleOptions{.build_mode = BuildMode::on_call});
  const Kwargs named{{"parts", Value::Map{{"x", ones({2, 3}, {.dtype = DType::f64})}}}};
  model(zeros({2}, {.dtype = DType::i64}), named);
  EXPECT_EQ(model->body->weight.value().dtype(), DType::f64);
}

TEST(Building, casts_reach_what_is_not_built) {
  const auto model = make<Mlp>(ModuleOptions{.build_mode = BuildMode::explicitly});
  model->to(DType::f64);
  model->build();
  EXPECT_EQ(model->hidden->weight.value().dtype(), DType::f64);
}

}  // namespace
}  // namespace tessera::nn::contract
