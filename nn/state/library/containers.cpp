#include <tessera/nn/layers/module_dict.h>
#include <tessera/nn/layers/parameter_dict.h>
#include <tessera/nn/layers/parameter_list.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_containers(ClassEntries& all) {
  add_classes<ModuleDict, ParameterDict, ParameterList, Sequential>(all);
}

}  // namespace tessera::nn::detail
