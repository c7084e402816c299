// What bits depend on, where ranks run on unlike machines or a run moves to another one.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// The first rank of those where `holds` is true; none where it is nowhere. Collective.
[[nodiscard]] std::optional<int> first_rank_where(Communicator& comm, bool holds);

/// Every fact that can be chosen (the instruction set) becomes the best that all ranks have; said
/// in the log where that is less than some rank's. Collective.
void choose_common_numerics(Communicator& comm);

/// What goes on with `value` of the fact `name`, as a run began, when it is called; null where that
/// cannot be chosen or a person has chosen otherwise. Throws Unsupported, naming what was and what
/// there is, when some rank's machine lacks it. Collective.
[[nodiscard]] std::function<void()> numerics_of_run(Communicator& comm, const std::string& name,
                                                    const std::string& value);

}  // namespace tessera::dist
