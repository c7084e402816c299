// What the bits of results depend on beside the program and its data: the instruction set and the
// like. Ranks must agree on these facts, and a checkpoint names them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// One such fact. Define it at namespace scope in the file that knows its value: it registers
/// itself. `ask` is called each time.
class BitFact {
 public:
  BitFact(const char* name, std::string (*ask)());
  ~BitFact();
  BitFact(const BitFact&) = delete;
  BitFact& operator=(const BitFact&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::string value() const { return value_(); }

 private:
  const char* name_;
  std::string (*value_)();
};

/// Names and values of all, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bit_facts();

}  // namespace tessera
