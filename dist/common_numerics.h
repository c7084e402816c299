// What bits depend on, where ranks run on unlike machines or a run moves to another one.
#pragma once

#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Every fact that can be chosen (the instruction set) becomes the best that all ranks have; said
/// in the log where that is less than some rank's. Collective.
void choose_common_numerics(Communicator& comm);

/// Goes on with `value` of the fact `name`, as a run began. Returns false, and changes nothing,
/// when it cannot be chosen or a person has chosen otherwise. Throws Unsupported, naming what was
/// and what there is, when some rank's machine lacks it. Collective.
bool choose_numerics_of_run(Communicator& comm, const std::string& name, const std::string& value);

}  // namespace tessera::dist
