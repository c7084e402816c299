#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/module_dict.h>
#include <tessera/nn/layers/parameter_dict.h>
#include <tessera/nn/layers/parameter_list.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer module_dict(const Attributes&) {
  auto dict = nn::make<nn::ModuleDict>();
  dict->add<nn::Linear>("first", 6, 4);
  dict->add<nn::Linear>("second", 4, 6);
  dict->add<nn::LayerNorm>("norm", 6);
  dict->build();
  return {dict, [dict](const NamedTensors& in) -> std::vector<Tensor> {
            const Tensor hidden = (*dict)["first"].call(in["x"]);
            return {(*dict)["norm"].call((*dict)["second"].call(hidden))};
          }};
}

BuiltLayer parameter_list(const Attributes&) {
  auto list = nn::make<nn::ParameterList>();
  for (int i = 0; i < 3; ++i) {
    list->append({6}, nn::init::zeros());
  }
  list->build();
  return {list, [list](const NamedTensors& in) -> std::vector<Tensor> {
            return {in["x"] * (*list)[0].value() + (*list)[2].value()};
          }};
}

BuiltLayer parameter_dict(const Attributes&) {
  auto dict = nn::make<nn::ParameterDict>();
  dict->add("scale", {6}, nn::init::zeros());
  dict->add("shift", {5, 1}, nn::init::zeros());
  dict->build();
  return {dict, [dict](const NamedTensors& in) -> std::vector<Tensor> {
            return {in["x"] * (*dict)["scale"].value() + (*dict)["shift"].value()};
          }};
}

const Counterparts<Layer> kNamedContainers{{"ModuleDict", {module_dict}},
                                           {"ParameterList", {parameter_list}},
                                           {"ParameterDict", {parameter_dict}}};

}  // namespace
}  // namespace tessera::oracle
