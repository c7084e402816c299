// The small values of a checkpoint as text.
#pragma once

#include <string>

#include <tessera/dist/checkpoint/training_state.h>

namespace tessera::dist {

/// Facts as JSON, and back. Reading throws IoError naming `file` for text that is not ours.
[[nodiscard]] std::string to_json(const TrainingFacts& facts);
[[nodiscard]] TrainingFacts facts_from_json(const std::string& text, const std::string& file);

}  // namespace tessera::dist
