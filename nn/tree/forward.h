// What the base class of modules mentions and does not need: types of the folders around it.
#pragma once

#include <cstdint>

namespace tessera::nn {

enum class BuildMode : std::uint8_t;  // nn/build/module_options.h
class Module;                         // nn/tree/module.h
struct BuildOptions;                  // nn/build/module_options.h
struct BuildStatus;                   // nn/build/module_options.h
struct ModuleOptions;                 // nn/build/module_options.h
struct SubMods;                       // nn/tree/sub_mods.h
struct SubModsOptions;                // nn/tree/sub_mods.h
class TreeDef;                        // nn/state/tree_def.h
class Variables;                      // nn/state/variables.h

}  // namespace tessera::nn
