// What an action says when it is refused.
#pragma once

#include <gtest/gtest.h>

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

inline void expect_begins(const std::string& text, const std::string& beginning) {
  EXPECT_EQ(text.substr(0, beginning.size()), beginning) << text;
}

}  // namespace tessera::testing_support
