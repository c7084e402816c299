#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/init/xavier.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

using namespace nn::init;

Nonlinearity nonlinearity_of(const Attributes& a) {
  using enum Nonlinearity;
  static const std::map<std::string, Nonlinearity> names{
      {"leaky_relu", leaky_relu}, {"relu", relu}, {"tanh", tanh}};
  return names.at(a.text("nonlinearity", "leaky_relu"));
}

/// One of the two, with He's arguments.
template <auto f>
nn::Initializer kaiming(const Attributes& a) {
  const bool out = a.text("mode", "fan_in") == "fan_out";
  return f(a.number("a", 0), out ? FanMode::fan_out : FanMode::fan_in, nonlinearity_of(a));
}

const Counterparts<Initialiser> kInitialisers{
    {"constant_", {[](const Attributes& a) { return constant(a.number("val")); }}},
    {"ones_", {[](const Attributes&) { return ones(); }}},
    {"zeros_", {[](const Attributes&) { return zeros(); }}},
    {"uniform_", {[](const Attributes& a) { return uniform(a.number("a", 0), a.number("b", 1)); }}},
    {"normal_",
     {[](const Attributes& a) { return normal(a.number("mean", 0), a.number("std", 1)); }}},
    {"xavier_uniform_", {[](const Attributes& a) { return xavier_uniform(a.number("gain", 1)); }}},
    {"xavier_normal_", {[](const Attributes& a) { return xavier_normal(a.number("gain", 1)); }}},
    {"kaiming_uniform_", {kaiming<kaiming_uniform>}},
    {"kaiming_normal_", {kaiming<kaiming_normal>}},
};

}  // namespace
}  // namespace tessera::oracle
