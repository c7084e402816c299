#include "oracle/support/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/state/serialize.h>

#include "oracle/support/distribution.h"

namespace tessera::oracle {
namespace {

Tensor in_dtype(const Tensor& x, DType dtype) {
  return is_floating(x.dtype()) ? cast(x, dtype) : x;
}

/// A tensor of its own in `dtype`, which collects a gradient where the record has one.
Tensor leaf(const Node& array, DType dtype, bool differentiable) {
  Tensor x = in_dtype(array.values, dtype);
  x = x.is(array.values) || x.shares_storage(array.values) ? clone(x) : x;
  return differentiable ? x.set_requires_grad(true) : x;
}

/// Under bf16 the call computes in it.
std::optional<DType> autocast_of(const Precision& precision) {
  return precision.inputs == precision.parameters ? std::nullopt
                                                  : std::optional<DType>(precision.inputs);
}

template <class F>
auto in_precision(const Precision& precision, const F& call) {
  if (const auto dtype = autocast_of(precision)) {
    const AutocastScope autocast(*dtype);
    return call();
  }
  return call();
}

/// The module's names of persistent state, in order.
std::vector<std::string> state_names(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, slot] : module.named_slots()) {
    if (slot->persistent) {
      names.push_back(name);
    }
  }
  return names;
}

void load(nn::Module& module, const Node& state, DType dtype) {
  module.to(dtype);
  for (const auto& [name, slot] : module.named_slots()) {
    if (slot->persistent) {
      ASSERT_EQ(slot->shape, state[name].values.shape()) << name;
      slot->value.detach().copy_(state[name].values);
    }
  }
}

NamedTensors gradients_of(const NamedTensors& leaves) {
  NamedTensors gradients;
  for (const auto& [name, x] : leaves) {
    gradients.add(name, x.grad());
  }
  return gradients;
}

NamedTensors gradients_of(const nn::Module& module) {
  NamedTensors gradients;
  for (const auto& [name, parameter] : module.named_parameters()) {
    gradients.add(name, parameter.grad());
  }
  return gradients;
}

NamedTensors buffers_of(const nn::Module& module) {
  NamedTensors buffers;
  for (const auto& [name, buffer] : module.named_buffers()) {
    buffers.add(name, buffer.value());
  }
  return buffers;
}

NamedTensors numbered(const std::vector<Tensor>& outputs) {
  NamedTensors named;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    named.add(std::to_string(i), outputs[i]);
  }
  return named;
}

}  // namespace

NamedTensors LayerReplay::inputs(const Precision& precision) const {
  NamedTensors inputs;
  for (const auto& [name, array] : record_["inputs"].children) {
    const bool differentiable = record_["input_gradients"].has(name);
    inputs.add(name, leaf(array, precision.inputs, differentiable));
  }
  return inputs;
}

void LayerReplay::backward(const std::vector<Tensor>& outputs, const Precision&) const {
  std::vector<Tensor> roots;
  std::vector<Tensor> seeds;
  for (const Tensor& y : outputs) {
    if (y.requires_grad()) {
      const Node& upstream = record_["upstream"][std::to_string(roots.size())];
      ASSERT_TRUE(upstream.values.defined()) << "more outputs have gradients than in PyTorch";
      roots.push_back(y);
      seeds.push_back(cast(upstream.values, y.dtype()));
    }
  }
  ASSERT_EQ(roots.size(), record_["upstream"].children.size());
  if (!roots.empty()) {
    tessera::backward(roots, seeds);
  }
}

void LayerReplay::expect_part(const char* part, const Precision& precision,
                              const NamedTensors& got) const {
  for (const auto& [name, reference] : record_[part].children) {
    EXPECT_LE(error_of(got[name], reference.values), allowed_error(reference, precision))
        << precision.name << ' ' << part << ' ' << name;
  }
  for (const auto& [name, x] : got) {
    EXPECT_TRUE(!x.defined() || record_[part].has(name) || error_of(x, zeros_like(x)) == 0)
        << part << ": PyTorch has no " << name;
  }
}

void LayerReplay::run_module(const Precision& precision) const {
  const BuiltLayer built = layer_.build(record_["arguments"].attributes);
  load(*built.module, record_["state"], precision.parameters);
  built.module->train(record_.attributes.flag("training", true));
  const NamedTensors in = inputs(precision);
  const auto outputs = in_precision(precision, [&] { return built.forward(in); });
  expect_part("outputs", precision, numbered(outputs));
  expect_part("buffers", precision, buffers_of(*built.module));
  if (!compares_gradients(precision)) {
    return;
  }
  backward(outputs, precision);
  expect_part("input_gradients", precision, gradients_of(in));
  expect_part("gradients", precision, gradients_of(*built.module));
}

void LayerReplay::run_function(const Precision& precision) const {
  SCOPED_TRACE("as a function");
  const NamedTensors in = inputs(precision);
  NamedTensors state;
  NamedTensors given = in;
  for (const auto& [name, array] : record_["state"].children) {
    state.add(name, leaf(array, precision.parameters, record_["gradients"].has(name)));
    given.add(name, state[name]);
  }
  const Attributes& arguments = record_["arguments"].attributes;
  const bool training = record_.attributes.flag("training", true);
  const Tensor y = in_precision(precision, [&] {
    return layer_.function ? layer_.function(given, arguments)
                           : layer_.function_of_mode(given, arguments, training);
  });
  expect_part("outputs", precision, numbered({y}));
  if (!compares_gradients(precision)) {
    return;
  }
  backward({y}, precision);
  expect_part("input_gradients", precision, gradients_of(in));
  expect_part("gradients", precision, gradients_of(state));
}

bool LayerReplay::compares_gradients(const Precision& precision) const {
  return !autocast_of(precision) || record_.attributes.flag("smooth", true);
}

void LayerReplay::expect_near(const Precision& precision) const {
  if (layer_.build) {
    run_module(precision);
  }
  if (layer_.function || layer_.function_of_mode) {
    run_function(precision);
  }
}

void LayerReplay::expect_same_form() const {
  const BuiltLayer built = layer_.build(record_["arguments"].attributes);
  EXPECT_THAT(record_["arguments"].attributes.unread(), testing::IsEmpty());
  EXPECT_EQ(built.module->repr(), record_.attributes.text("repr"));
  const Node& state = record_.has("begun") ? record_["begun"] : record_["state"];
  EXPECT_EQ(state_names(*built.module), state.names());
}

void LayerReplay::expect_same_from_bytes() const {
  const BuiltLayer built = layer_.build(record_["arguments"].attributes);
  built.module->train(record_.attributes.flag("training", true));
  const auto bytes = nn::serialize(*built.module);
  const nn::ModulePtr copy = nn::deserialize(bytes);
  EXPECT_EQ(copy->repr(), built.module->repr());
  EXPECT_TRUE(nn::serialize(*copy) == bytes);
}

void LayerReplay::expect_same_beginning() const {
  set_seed(1);
  const BuiltLayer built = layer_.build(record_["arguments"].attributes);
  for (const auto& [name, slot] : built.module->named_slots()) {
    SCOPED_TRACE(name);
    expect_same_distribution(slot->value, record_["begun"][name]);
  }
}

}  // namespace tessera::oracle
