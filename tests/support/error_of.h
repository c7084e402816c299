// What an action says when it is refused.
#pragma once

#include <string>

#include <tessera/core/base/error.h>

namespace tessera::testing_support {

/// The text of the E that `action` throws, or "no error". Another exception goes on to the caller.
template <class E = Error>
std::string error_of(const auto& action) {
  try {
    static_cast<void>(action());
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tessera::testing_support
