// Whether a parameter is trained is one fact, whoever says it and whatever takes its tensor's
// place.
#include <gtest/gtest.h>

#include <map>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/ensemble.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/state/serialize.h>
#include <tessera/nn/state/tree_def.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using Flags = std::map<std::string, bool>;
using Freeze = void (*)(Sequential&);
using Way = ModulePtr (*)(const Ptr<Sequential>&);
using testing_support::error_of;

Ptr<Sequential> two_layers() {
  auto model = make<Sequential>();
  model->add<Linear>(2, 2);
  model->add<Linear>(2, 2);
  return model;
}

/// What parameters say, whose tensors and slots must say the same.
Flags flags_of(const Module& model) {
  Flags flags;
  for (const auto& [name, parameter] : model.named_parameters()) {
    flags[name] = parameter.requires_grad();
    EXPECT_EQ(parameter.value().requires_grad(), flags[name]) << name;
    EXPECT_EQ(parameter.slot()->requires_grad(), flags[name]) << name;
    EXPECT_EQ(parameter.slot()->dtype, parameter.value().dtype()) << name;
    EXPECT_EQ(parameter.slot()->shape, parameter.value().shape()) << name;
  }
  return flags;
}

const std::vector<std::pair<const char*, Freeze>> kFreezes{
    {"by the tensor",
     [](Sequential& m) { m.get_parameter("0.weight").value().set_requires_grad(false); }},
    {"by the parameter", [](Sequential& m) { m.get_parameter("1.bias").requires_grad_(false); }},
    {"by the slot",
     [](Sequential& m) { m.get_parameter("1.weight").slot()->set_requires_grad(false); }},
    {"by the module", [](Sequential& m) { m.get_submodule("0").requires_grad_(false); }},
    {"all but one, by its tensor",
     [](Sequential& m) {
       m.requires_grad_(false).get_parameter("1.bias").value().set_requires_grad(true);
     }},
};

template <class F>
ModulePtr changed(const Ptr<Sequential>& model, const F& change) {
  change(*model);
  return model;
}

/// Every way in which a tensor takes the place of a parameter's.
const std::vector<std::pair<const char*, Way>> kWays{
    {"cast",
     [](const Ptr<Sequential>& m) { return changed(m, [](auto& x) { x.to(DType::f64); }); }},
    {"cast of floats",
     [](const Ptr<Sequential>& m) { return changed(m, [](auto& x) { x.to_half(); }); }},
    {"type",
     [](const Ptr<Sequential>& m) { return changed(m, [](auto& x) { x.type(DType::bf16); }); }},
    {"move and back",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) { x.to(Device{.type = DeviceType::meta}).to_empty({}); });
     }},
    {"layout",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) { x.to(MemoryFormat::channels_last); });
     }},
    {"shared memory",
     [](const Ptr<Sequential>& m) { return changed(m, [](auto& x) { x.share_memory(); }); }},
    {"function of storage",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) {
         detail::for_each_slot_storage(x, [](const Tensor& y) { return y + 0.0; });
       });
     }},
    {"assigned",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) {
         x.load_state_dict(two_layers()->to(DType::f64).state_dict(), {.assign = true});
       });
     }},
    {"loaded",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) { x.load_state_dict(two_layers()->state_dict()); });
     }},
    {"set_v",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) { x.set_v(two_layers()->v()); });
     }},
    {"written",
     [](const Ptr<Sequential>& m) {
       return changed(m, [](auto& x) {
         for (const Parameter& parameter : x.parameters()) {
           write_slot(parameter.slot(), ones(parameter.shape()));
         }
       });
     }},
    {"copy", [](const Ptr<Sequential>& m) { return m->clone(); }},
    {"pure update",
     [](const Ptr<Sequential>& m) -> ModulePtr {
       return nn::update(m, ones({1, 2}));
     }},
    {"gradient's update",
     [](const Ptr<Sequential>& m) -> ModulePtr {
       return value_and_grad([](const auto& f) { return sum(f(ones({1, 2}))); }, m).updated;
     }},
    {"flattened",
     [](const Ptr<Sequential>& m) {
       const auto [leaves, definition] = m->flatten();
       return Module::unflatten(definition, leaves);
     }},
    {"stacked",
     [](const Ptr<Sequential>& m) {
       return stack_modules(std::vector<ModulePtr>{m, m->clone()});
     }},
    {"bytes", [](const Ptr<Sequential>& m) { return deserialize(serialize(*m)); }},
};

TEST(Frozen, stays_so_whatever_takes_the_tensors_place) {
  for (const auto& [how, freeze] : kFreezes) {
    for (const auto& [what, replace] : kWays) {
      const auto model = two_layers();
      freeze(*model);
      const Flags before = flags_of(*model);
      EXPECT_EQ(flags_of(*replace(model)), before) << how << ", " << what;
      EXPECT_EQ(flags_of(*model), before) << how << ", the original after " << what;
    }
  }
}

TEST(Frozen, is_what_gradients_are_computed_by) {
  for (const auto& [how, freeze] : kFreezes) {
    const auto model = two_layers();
    freeze(*model);
    const auto grads = value_and_grad(
                           [](const auto& m) {
                             return sum(m(ones({1, 2})));
                           },
                           model)
                           .grads;
    sum(model(ones({1, 2}))).backward();
    for (const auto& [name, trained] : flags_of(*model)) {
      EXPECT_EQ(grads.at(name).defined(), trained) << how << ", " << name;
      EXPECT_EQ(model->get_parameter(name).grad().defined(), trained) << how << ", " << name;
    }
  }
}

TEST(Frozen, may_be_declared_before_there_is_a_value) {
  const auto lazy = make<LazyLinear>(2);
  lazy->weight.requires_grad_(false);
  EXPECT_FALSE(lazy->weight.requires_grad());
  EXPECT_FALSE(lazy->weight.grad().defined());
  const auto copy = nn::clone(lazy);
  lazy->to(DType::f64);
  lazy(ones({1, 3}, {.dtype = DType::f64}));
  EXPECT_EQ(flags_of(*lazy), (Flags{{"bias", true}, {"weight", false}}));
  copy(ones({1, 3}));
  EXPECT_EQ(flags_of(*copy), (Flags{{"bias", true}, {"weight", false}}));
}

TEST(Frozen, keeps_hooks_and_gradient_for_when_it_is_trained) {
  const auto model = make<Scale>();
  int ran = 0;
  register_gradient_hook(model->factor.value(), [&](const Tensor& g) { return ++ran, g; });
  sum(model(ones({3}))).backward();
  model->factor.requires_grad_(false);
  model->to(DType::f64);
  EXPECT_EQ(model->factor.grad().to_vector<double>(), (std::vector<double>{1, 1, 1}));
  model->load_state_dict(make<Scale>()->state_dict(), {.assign = true});
  model->factor.requires_grad_(true);
  sum(model(ones({3}))).backward();
  EXPECT_EQ(ran, 2);
}

TEST(Frozen, takes_and_drops_a_gradient) {
  const Tensor x = ones({2});
  x.set_grad({});
  x.set_grad(full({2}, 3));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_FALSE(x.requires_grad());
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_NE(error_of<InvalidArgument>([&] {
              x.set_grad(ones({2}, {.dtype = DType::f64}));
            }).find("wrong dtype or device; got f64"),
            std::string::npos);
}

TEST(Frozen, what_cannot_be_trained_is_named_and_nothing_is_switched) {
  const auto model = make<Sequential>();
  model->add<Linear>(2, 2);
  model->register_parameter("ids", zeros({2}, {.dtype = DType::i64}), false);
  model->requires_grad_(false);
  EXPECT_EQ(error_of<InvalidArgument>([&] { model->requires_grad_(true); }),
            "requires_grad_: \"ids\" has no gradients; got i64, expected a floating or complex "
            "dtype");
  EXPECT_EQ(flags_of(*model), (Flags{{"0.bias", false}, {"0.weight", false}, {"ids", false}}));
  EXPECT_NE(error_of<InvalidArgument>([&] {
              model->register_parameter("more", zeros({2}, {.dtype = DType::i64}));
            }).find("\"more\": has no gradient; got i64"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::nn::contract
