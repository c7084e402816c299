// Text from one rank to all.
#pragma once

#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// The text of rank `root` on every rank; the others' is ignored. Collective.
[[nodiscard]] std::string share_text(Communicator& comm, const std::string& text, int root,
                                     const std::string& label);

}  // namespace tessera::dist
