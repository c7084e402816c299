// How Tessera makes what PyTorch calls by a name: what a family's file registers.
//
//   const Counterparts<Layer> registered{{"Linear", {.build = linear_layer, .function = ...}}};
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/make.h>
#include <tessera/nn/optim/optimizer.h>

#include "oracle/support/fixture.h"
#include "oracle/support/named_tensors.h"

namespace tessera::oracle {

/// A module, and how it is called with a case's inputs.
struct BuiltLayer {
  nn::ModulePtr module;
  std::function<std::vector<Tensor>(const NamedTensors& inputs)> forward;
};

/// A class of torch.nn: as a module and, where it has one, as a function of inputs and state, or
/// one that besides is told whether it trains.
struct Layer {
  static constexpr const char* kSection = "layers";
  std::function<BuiltLayer(const Attributes& arguments)> build = nullptr;
  std::function<Tensor(const NamedTensors& given, const Attributes& arguments)> function = nullptr;
  std::function<Tensor(const NamedTensors& given, const Attributes& arguments, bool training)>
      function_of_mode = nullptr;
};

/// A class of torch.optim.
struct Optimizer {
  static constexpr const char* kSection = "optimizers";
  std::function<std::unique_ptr<optim::Optimizer>(const std::vector<nn::Parameter>& parameters,
                                                  const Attributes& arguments)>
      make;
};

/// A class of torch.optim.lr_scheduler: the numbers of `steps` steps, by their names in the fixture
/// ("rates"). `values` holds what it is told, if anything ("metrics").
struct Schedule {
  static constexpr const char* kSection = "schedules";
  using Numbers = std::map<std::string, std::vector<double>>;
  std::function<Numbers(const Attributes& arguments, std::int64_t steps, const Node& values)> run;
};

/// A function of torch.nn.init.
struct Initialiser {
  static constexpr const char* kSection = "initialisers";
  std::function<nn::Initializer(const Attributes& arguments)> make;
};

template <class Entry>
class Counterparts {
 public:
  Counterparts(std::initializer_list<std::pair<const std::string, Entry>> entries) {
    for (const auto& entry : entries) {
      check<KeyError>(all().insert(entry).second, "oracle: \"", entry.first, "\" is known already");
    }
  }
  /// By PyTorch's names.
  static std::map<std::string, Entry>& all() {
    static std::map<std::string, Entry> entries;
    return entries;
  }
  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [name, entry] : all()) {
      names.push_back(name);
    }
    return names;
  }
};

/// A layer whose forward takes the inputs in the case's order and gives one tensor.
template <class M, class... A>
BuiltLayer layer(A&&... arguments) {
  auto module = nn::make<M>(std::forward<A>(arguments)...);
  return {module, [module](const NamedTensors& in) -> std::vector<Tensor> {
            if constexpr (requires(const Tensor& x) { module->forward(x, x, x); }) {
              return {module(in.at(0), in.at(1), in.at(2))};
            } else if constexpr (requires(const Tensor& x) { module->forward(x, x); }) {
              return {module(in.at(0), in.at(1))};
            } else {
              return {module(in.at(0))};
            }
          }};
}

}  // namespace tessera::oracle
