// What the modules below returned in one tracked call, and in which order they ran.
#pragma once

#include <string>

#include <tessera/core/base/ordered_map.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/value.h>

namespace tessera::nn {

/// All that one module returned, a value a call: copies on the host, detached.
struct SubmodReturns {
  std::string path;  ///< dotted, from the module that was called
  Value::List outputs;
};

/// Calls in order. A name is a module's key, "_" and how many calls of the module by the one above
/// came before.
struct CallTree {
  OrderedMap<CallTree> calls;
  Variables variables;  ///< of what lists no calls: copies on the host, by paths from the root
};

/// A module's key is a space for each level below the called module, its class, "_" and its number
/// among the instances of the class, in the order in which they were first called.
struct SubmodTrace {
  OrderedMap<SubmodReturns> rets;
  CallTree call_order;
};

/// The trace of the calling thread's last tracked call.
[[nodiscard]] const SubmodTrace& last_trace();

}  // namespace tessera::nn
