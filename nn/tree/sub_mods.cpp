#include <tessera/nn/tree/sub_mods.h>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

SubMods tree_below(const Module& module, const SubModsOptions& options, int levels) {
  SubMods tree;
  for (const auto& [name, child] : module.named_children()) {
    if (levels != 0) {
      tree.children.set(name, tree_below(*child, options, levels - 1));
    }
  }
  if (options.show_v && tree.children.empty()) {
    tree.v = module.v();
  }
  return tree;
}

void flatten_names(const SubMods& tree, const std::string& prefix, SubMods& flat) {
  for (const auto& [name, child] : tree.children) {
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    if (child.children.empty()) {
      flat.children.set(path, child);
    } else {
      flatten_names(child, path, flat);
    }
  }
}

}  // namespace

SubMods detail::sub_mods(const Module& module, const SubModsOptions& options) {
  SubMods tree = tree_below(module, options, options.depth.value_or(-1));
  if (!options.flatten_key_chains) {
    return tree;
  }
  SubMods flat;
  flatten_names(tree, "", flat);
  return flat;
}

}  // namespace tessera::nn
