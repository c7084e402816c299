// Misspelt settings are found when a program starts.
#pragma once

namespace tessera {

/// Throws InvalidArgument naming a setting whose text in the environment cannot be read, and says
/// in the log, with the name that is nearest, which TESSERA_ variables belong to no setting.
void check_settings();

}  // namespace tessera
