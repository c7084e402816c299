// How activations are made and called.
#pragma once

#include <tessera/core/ops/mul.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {

/// A layer without arguments.
template <class M>
BuiltLayer plain(const Attributes&) {
  return layer<M>();
}

/// A layer of `options` that may overwrite its input: it is given one that is not a leaf.
template <class M, class... A>
BuiltLayer in_place_or_not(const Attributes& a, const A&... options) {
  auto module = nn::make<M>(options..., a.flag("inplace", false));
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            return {module(in["x"] * 1.0)};
          }};
}

/// The same with one option of a name and a default.
template <class M>
auto with_option(const char* name, double fallback) {
  return [=](const Attributes& a) { return in_place_or_not<M>(a, a.number(name, fallback)); };
}

/// A function of x alone.
template <Tensor (*f)(const Tensor&)>
Tensor of_x(const NamedTensors& in, const Attributes&) {
  return f(in["x"]);
}

/// A function of x and a number of that name and default.
template <Tensor (*f)(const Tensor&, double)>
auto of_option(const char* name, double fallback) {
  return [=](const NamedTensors& in, const Attributes& a) {
    return f(in["x"], a.number(name, fallback));
  };
}

}  // namespace tessera::oracle
