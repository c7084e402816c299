// Checkpoints: named arrays and small values of a step in DIR/step-N/index.h5.
//
// The format is described in docs/checkpoint.md. By convention arrays are model/NAME,
// optimizer/exp_avg/NAME, optimizer/exp_avg_sq/NAME, a tied name is an alias, and all else is
// attributes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tessera/nn/io/array_file.h>

namespace tessera::dist {

/// Version of the format; a checkpoint of a newer one is refused.
inline constexpr std::int64_t kCheckpointFormat = 1;

/// Makes DIR/step-N hold `contents`, durable when it returns; a step that is there is replaced, and
/// whenever the process or the power dies the old or the new one is there. Throws IoError when the
/// disk fails or is full: then nothing new is visible and the old step is as it was, unless it was
/// the directory itself that could not be written through: then either may be what is visible.
void save_checkpoint(const std::string& directory, std::int64_t step,
                     nn::ArrayFileContents contents);

/// Opens a step after all its bytes were compared with their checksums. Throws IoError that names
/// the file, and the damaged array, or the steps that are there if this one is not.
[[nodiscard]] std::unique_ptr<nn::ArrayFileReader> open_checkpoint(const std::string& directory,
                                                                   std::int64_t step);

/// Throws IoError, as open_checkpoint does, if the step is not whole.
void verify_checkpoint(const std::string& directory, std::int64_t step);

/// The newest step before `before` that is whole.
[[nodiscard]] std::optional<std::int64_t> newest_whole_step(const std::string& directory,
                                                            std::int64_t before = INT64_MAX);

}  // namespace tessera::dist
