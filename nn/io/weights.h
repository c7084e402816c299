// A module's weights in files.
//
//   nn::save_weights(*model, "runs/model.h5");
//   nn::load_weights(*model, "runs/model.h5");
//   nn::save_weights(*model, "runs/model.safetensors");
//   nn::import_weights(*model, path, nn::Format::safetensors, nn::name_maps::from_gpt2());
//
// HDF5: one group for each module, one dataset for each tensor, in the order of the state dict; one
// more name of a tensor is a hard link. Groups carry `class` and `state_version`, datasets `kind`
// (parameter or buffer) and `requires_grad`, the file `weights_format`; extra state is a dataset of
// bytes. safetensors: dotted names; a tensor is written once and its other names are texts under
// "__metadata__".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/name_map.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// What is written: what state dicts hold, or parameters alone.
enum class WeightsScope : std::uint8_t { persistent, trainable };

struct WeightsOptions {
  WeightsScope scope = WeightsScope::persistent;
};

enum class Format : std::uint8_t { hdf5, safetensors };

/// The format of a file of that name: safetensors where it ends so, otherwise HDF5.
[[nodiscard]] Format format_of(const std::string& path);

/// Opens a file of weights to look at what it holds, without a module. Throws IoError as
/// load_weights does.
[[nodiscard]] std::unique_ptr<ArrayFileReader> open_weights(const std::string& path, Format format);

/// Writes the state of `module` to a file of the format that its name ends in, see `format_of`: a
/// new one beside, which then takes the name, so that the old file or the new one is there whatever
/// happens. Missing folders are made. Throws IoError when the disk fails, Unsupported for HDF5
/// where the library was built without it, for a complex128 tensor in safetensors and for extra
/// state of the caller's own type, NotImplementedError for tensors without elements.
void save_weights(const Module& module, const std::string& path,
                  const WeightsOptions& options = {});

/// Reads a file of the format that its name ends in, of this library, in HDF5 after its checksums
/// were compared, or of another program: nested groups or dotted names; where more of the module's
/// names are in a group `model` than outside it, as in a checkpoint, what is in it. A name is not
/// missing when its slot is in the file under another one. Otherwise as load_state_dict, whose
/// errors it throws: an array of a type that no tensor has is an unexpected name like others.
/// Throws IoError naming file and field for what is no such file, with the format that it looks
/// like where that is the other one or that of torch.save, and for such an array that the module
/// wants. Then nothing is changed.
LoadResult load_weights(Module& module, const std::string& path, const LoadOptions& options = {});

/// save_weights in any format, whatever the file's name ends in, and under other names: `names`
/// makes a file's names of the module's dotted ones. Throws ValueError for a tensor to be
/// transposed that has not two dims.
void export_weights(const Module& module, const std::string& path, Format format,
                    const NameMap& names = {}, const WeightsOptions& options = {});

/// load_weights in any format, whatever the file's name ends in: `names` makes the module's names
/// of the file's dotted ones. Errors and the unexpected keys of the result name what the file has
/// by the file's names.
LoadResult import_weights(Module& module, const std::string& path, Format format,
                          const NameMap& names = {}, const LoadOptions& options = {});

}  // namespace tessera::nn
