// Steps whose gradients lie in what they write, and parameters that lie in one memory.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/make.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adam.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>
#include <tessera/nn/state/tree_def.h>

#include "support/values.h"
#include "support/values_of.h"

namespace tessera::aliasing {
namespace {

using nn::Parameter;
using testing_support::Floats;
using testing_support::values;
using testing_support::values_of;

struct Pair : nn::Module {
  Parameter a{this, "a", {192, 192}, nn::init::normal(0, 1)};
  Parameter b{this, "b", {192, 192}, nn::init::normal(0, 1)};
};

nn::Ptr<Pair> pair() {
  set_seed(7);
  return nn::make<Pair>();
}

using Made = std::unique_ptr<optim::Optimizer>;
template <class Kind, class Options>
Made made(const std::vector<Parameter>& parameters, const Options& options) {
  return std::make_unique<Kind>(parameters, options);
}

using P = const std::vector<Parameter>&;
const std::vector<std::pair<const char*, Made (*)(P)>> kMakers{
    {"SGD", [](P p) { return made<optim::SGD>(p, optim::SGDOptions{.lr = 0.1, .momentum = 0.9}); }},
    {"Adam", [](P p) { return made<optim::Adam>(p, optim::AdamOptions{.weight_decay = 0.1}); }},
    {"AdamW", [](P p) { return made<optim::AdamW>(p, optim::AdamWOptions{.amsgrad = true}); }},
    {"Adagrad", [](P p) { return made<optim::Adagrad>(p, optim::AdagradOptions{}); }},
    {"RMSprop", [](P p) { return made<optim::RMSprop>(p, optim::RMSpropOptions{}); }},
    {"Lion", [](P p) { return made<optim::Lion>(p, optim::LionOptions{}); }},
    {"Adafactor", [](P p) { return made<optim::Adafactor>(p, optim::AdafactorOptions{}); }},
    {"Muon", [](P p) { return made<optim::Muon>(p, optim::MuonOptions{}); }},
};

/// How a parameter's value is shown: on its memory, or copied.
using Shown = Tensor (*)(const Tensor& x);
Tensor on_its_memory(const Tensor& x) {
  return x.detach();
}
Tensor copied(const Tensor& x) {
  return clone(x.detach());
}

struct Giving {
  const char* name;
  void (*give)(const Pair& m, Shown shown);
};

const std::vector<Giving> kGiving{
    {"its own value",
     [](const Pair& m, Shown shown) {
       m.a.value().set_grad(shown(m.a));
       m.b.value().set_grad(shown(m.b));
     }},
    {"the other's value",
     [](const Pair& m, Shown shown) {
       m.a.value().set_grad(shown(m.b));
       m.b.value().set_grad(shown(m.a));
     }},
    {"the other's value, turned round",
     [](const Pair& m, Shown shown) {
       m.a.value().set_grad(transpose(shown(m.b)));
       m.b.value().set_grad(transpose(shown(m.a)));
     }},
    {"one tensor for both",
     [](const Pair& m, Shown shown) {
       const Tensor g = shown(m.a);
       m.a.value().set_grad(g);
       m.b.value().set_grad(g);
     }},
};

TEST(AliasedSteps, gradients_are_read_before_a_step_writes) {
  for (const auto& [name, make] : kMakers) {
    for (const Giving& giving : kGiving) {
      const auto model = pair(), expected = pair();
      const Made own = make(model->parameters()), safe = make(expected->parameters());
      for (int step = 0; step < 2; ++step) {
        giving.give(*model, on_its_memory);
        giving.give(*expected, copied);
        own->clip_grad_norm(step);  // off, then 1
        safe->clip_grad_norm(step);
        EXPECT_EQ(own->step().gradient_norm, safe->step().gradient_norm);
      }
      EXPECT_EQ(values_of(*model), values_of(*expected)) << name << ", " << giving.name;
    }
  }
}

struct Small : nn::Module {
  Parameter a{this, "a", {4}, nn::init::constant(1)};
  Parameter b{this, "b", {4}, nn::init::constant(1)};
};
struct Bare : nn::Module {};

/// Ways to two parameters on one memory.
struct Route {
  const char* name;
  nn::ModulePtr (*make)(const Tensor& w);
};

const std::vector<Route> kRoutes{
    {"registered twice",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       model->register_parameter("a", w);
       model->register_parameter("b", w);
       return model;
     }},
    {"registered by two handles",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       model->register_parameter("a", w.detach());
       model->register_parameter("b", w.detach());
       return model;
     }},
    {"one inside the other",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       model->register_parameter("a", w);
       model->register_parameter("b", slice(w, 0, 1).detach());
       return model;
     }},
    {"turned round in it",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       const Tensor square = reshape(slice(w, 0, 0, 4), {2, 2});
       model->register_parameter("a", square.detach());
       model->register_parameter("b", transpose(square).detach());
       return model;
     }},
    {"a part of memory of somebody else's",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       const auto owner = std::make_shared<Tensor>(w);
       model->register_parameter("a", from_memory(w.raw_data(), {3}, DType::f32, owner));
       model->register_parameter("b", from_memory(w.data<float>() + 1, {2}, DType::f32, owner));
       return model;
     }},
    {"assigned by load_state_dict",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Small>();
       model->load_state_dict({{"a", w}, {"b", w}}, {.assign = true});
       return model;
     }},
    {"given variables",
     [](const Tensor& w) -> nn::ModulePtr {
       nn::Variables v;
       v.set("a", w);
       v.set("b", w);
       return nn::make<Small>(nn::ModuleOptions{.v = v});
     }},
    {"unflatten",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Small>();
       auto [leaves, definition] = model->flatten();
       leaves[0] = leaves[1] = w;
       return nn::Module::unflatten(definition, leaves);
     }},
    {"on memory of somebody else's",
     [](const Tensor& w) -> nn::ModulePtr {
       const auto model = nn::make<Bare>();
       const auto owner = std::make_shared<Tensor>(w);
       for (const char* name : {"a", "b"}) {
         model->register_parameter(name, from_memory(w.raw_data(), {4}, DType::f32, owner));
       }
       return model;
     }},
};

TEST(AliasedSteps, a_step_does_not_update_one_memory_twice) {
  for (const Route& route : kRoutes) {
    const Tensor w = ones({4});
    try {
      const nn::ModulePtr model = route.make(w);
      optim::SGD optimizer(model->parameters(), {.lr = 0.5});
      for (const Parameter& p : model->parameters()) {
        p.value().set_grad(ones(p.value().shape()));
      }
      optimizer.step();
      ADD_FAILURE() << route.name << ": trained, to " << values(w)[0];
    } catch (const ValueError&) {  // names both
    }
    EXPECT_EQ(values(w), Floats(4, 1)) << route.name;
  }
}

}  // namespace
}  // namespace tessera::aliasing
