// Files that are whole or not there.
#pragma once

#include <functional>
#include <string>

namespace tessera::nn {

/// Makes `path` hold what `write` writes to the path that it is given: a new file in the same
/// folder, which then takes the name. Missing folders are made. When this returns the file and its
/// name are durable; when the process or the power dies the old file, if there was one, or the new
/// one is there; the next save removes what was not finished. If `write` throws, the new file is
/// removed and the old one stays. Several processes may do it for one path at once. Throws IoError.
void replace_file(const std::string& path,
                  const std::function<void(const std::string& fresh)>& write);

}  // namespace tessera::nn
