#include <tessera/nn/io/weights.h>

#include <map>

#include <tessera/core/base/busy_scope.h>
#include <tessera/nn/io/file_format.h>
#include <tessera/nn/io/replace_file.h>
#include <tessera/nn/io/safetensors.h>
#include <tessera/nn/io/state_arrays.h>
#include <tessera/nn/io/state_reading.h>
#include <tessera/nn/state/load.h>

namespace tessera::nn {
namespace {

/// Gives names that are not in `state` what is there under another name of their slot.
void add_ties(const Module& module, StateDict& state) {
  std::map<const Slot*, Value> given;
  const auto slots = module.named_slots();
  for (const auto& [name, slot] : slots) {
    if (const Value* value = state.find(name)) {
      given.emplace(slot.get(), *value);
    }
  }
  for (const auto& [name, slot] : slots) {
    if (const auto found = given.find(slot.get()); found != given.end() && !state.contains(name)) {
      state.set(name, found->second);
    }
  }
}

}  // namespace

Format format_of(const std::string& path) {
  return path.ends_with(".safetensors") ? Format::safetensors : Format::hdf5;
}

std::unique_ptr<ArrayFileReader> open_weights(const std::string& path, Format format) {
  check_format(path, format);
  return format == Format::hdf5 ? open_array_file(path, Checksums::if_present)
                                : open_safetensors(path);
}

void save_weights(const Module& module, const std::string& path, const WeightsOptions& options) {
  export_weights(module, path, format_of(path), {}, options);
}

LoadResult load_weights(Module& module, const std::string& path, const LoadOptions& options) {
  return import_weights(module, path, format_of(path), {}, options);
}

void export_weights(const Module& module, const std::string& path, Format format,
                    const NameMap& names, const WeightsOptions& options) {
  const BusyScope busy("saves " + path);
  const StateArrays arrays(module, format, names, options.scope);
  const auto write = format == Format::hdf5 ? write_array_file : write_safetensors;
  replace_file(path, [&](const std::string& fresh) { write(fresh, arrays.contents()); });
}

LoadResult import_weights(Module& module, const std::string& path, Format format,
                          const NameMap& names, const LoadOptions& options) {
  const BusyScope busy("loads " + path);
  const auto reader = open_weights(path, format);
  FileState file = read_state(*reader, path, module, names);
  add_ties(module, file.state);
  LoadResult result = load_state(
      module, file.state, options, [&](const std::string& key) { return file.text(key); }, path);
  for (std::string& key : result.unexpected_keys) {
    if (const auto source = file.sources.find(key); source != file.sources.end()) {
      key = source->second.path;
    }
  }
  return result;
}

}  // namespace tessera::nn
