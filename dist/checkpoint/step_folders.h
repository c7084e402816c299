// The folders of a run's checkpoints: DIR/step-N, each whole or not there.
//
// What is being written, replaced or removed has a name that begins with a dot, and becomes or
// stops being a step by one rename. One process writes to DIR at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::dist {

/// The steps in `directory`, ascending; none if there is no such directory.
[[nodiscard]] std::vector<std::int64_t> list_steps(const std::string& directory);

/// The largest of them.
[[nodiscard]] std::optional<std::int64_t> newest_step(const std::string& directory);

/// The folder of a step. It need not be there.
[[nodiscard]] std::string step_folder(const std::string& directory, std::int64_t step);

/// Makes `directory` where it is missing, and shows that steps can be made in it. Throws IoError.
void prepare_for_steps(const std::string& directory);

/// Makes the folder of a step: `write` fills a new folder, which then, synced, takes the step's
/// name. A step that is there is replaced: whenever power fails, the old or the new one is there,
/// and after the return the new one. If `write` throws, the new folder is removed and the old
/// stays.
void write_step_folder(const std::string& directory, std::int64_t step,
                       const std::function<void(const std::string& folder)>& write);

/// Removes all but the `keep` newest steps (keep >= 1).
void keep_newest_steps(const std::string& directory, std::int64_t keep);

/// Moves the steps after `step` to a new folder in `directory` whose name begins with a dot;
/// returns its path, empty if there were none.
std::string set_aside_steps_after(const std::string& directory, std::int64_t step);

}  // namespace tessera::dist
