// The small values of a checkpoint as text: lines of words parted by tabs, readable by people.
#pragma once

#include <string>

#include <tessera/dist/checkpoint/training_state.h>

namespace tessera::dist {

/// Facts as text, and back. Reading throws IoError naming `file` for text that is not ours.
[[nodiscard]] std::string to_text(const TrainingFacts& facts);
[[nodiscard]] TrainingFacts facts_from_text(const std::string& text, const std::string& file);

}  // namespace tessera::dist
