// What the bits of results depend on beside the program and its data: the instruction set and the
// like. Ranks must agree on these facts, and a checkpoint names them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/core/base/settings.h>

namespace tessera {

/// How a fact is chosen, so that unlike machines can come to the same.
struct BitChoice {
  /// What this machine has to choose from, ascending: who has one has all before it.
  std::vector<std::string> (*options)() = nullptr;
  /// Makes one of them the fact's value. No kernel may be running.
  void (*choose)(const std::string& option) = nullptr;
  /// By which a person chooses.
  const SettingEntry* setting = nullptr;
};

/// One such fact. Define it at namespace scope in the file that knows its value: it registers
/// itself. `ask` is called each time.
class BitFact {
 public:
  BitFact(const char* name, std::string (*ask)(), const BitChoice& choice = {});
  ~BitFact();
  BitFact(const BitFact&) = delete;
  BitFact& operator=(const BitFact&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::string value() const { return value_(); }
  /// Without options where the machine leaves no choice.
  [[nodiscard]] const BitChoice& choice() const noexcept { return choice_; }

 private:
  const char* name_;
  std::string (*value_)();
  BitChoice choice_;
};

/// The facts that can be chosen, sorted by name.
[[nodiscard]] std::vector<const BitFact*> chosen_bit_facts();

/// Names and values of all, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bit_facts();

}  // namespace tessera
