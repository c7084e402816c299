// What the bits of results depend on beside the program and its data: the instruction set and the
// like. Ranks must agree on these facts, and a checkpoint names them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/core/base/settings.h>

namespace tessera {

/// How a fact is chosen, so that unlike machines can come to the same.
struct NumericsChoice {
  /// What this machine has to choose from, ascending: who has one has all before it.
  std::vector<std::string> (*options)() = nullptr;
  /// Makes one of them the fact's value. No kernel may be running.
  void (*choose)(const std::string& option) = nullptr;
  /// What a person chooses by.
  const SettingEntry* setting = nullptr;
};

/// One such fact. Define it at namespace scope in the file that knows its value: it registers
/// itself. `ask` is called each time.
class NumericsFact {
 public:
  NumericsFact(const char* name, std::string (*ask)(), const NumericsChoice& choice = {});
  ~NumericsFact();
  NumericsFact(const NumericsFact&) = delete;
  NumericsFact& operator=(const NumericsFact&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::string value() const { return value_(); }
  /// How it can be chosen; without options where the machine leaves no choice.
  [[nodiscard]] const NumericsChoice& choice() const noexcept { return choice_; }

 private:
  const char* name_;
  std::string (*value_)();
  NumericsChoice choice_;
};

/// The facts that can be chosen, sorted by name.
[[nodiscard]] std::vector<const NumericsFact*> chosen_numerics_facts();

/// Names and values of all, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> numerics_fingerprint();

}  // namespace tessera
