// Settings read from the environment: one object each, one printable table of all.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/base/error.h>

namespace tessera {

/// How a type is read from a setting's text. Specialise it for a type of your own: `kExpected`
/// completes the sentence "expected ...", `parse` returns nothing for what it cannot read.
template <class T>
struct SettingType;

template <>
struct SettingType<bool> {
  static constexpr const char* kExpected = "1, 0, on, off, true, false, yes or no";
  static std::optional<bool> parse(std::string_view text);
  static void print(std::ostream& out, bool value) { out << (value ? "on" : "off"); }
};

template <>
struct SettingType<std::string> {
  static constexpr const char* kExpected = "any text";
  static std::optional<std::string> parse(std::string_view text) { return std::string(text); }
  static void print(std::ostream& out, const std::string& value) { out << value; }
};

template <class T>
requires std::integral<T> || std::floating_point<T>
struct SettingType<T> {
  static constexpr const char* kExpected = std::integral<T> ? "a whole number" : "a number";
  static std::optional<T> parse(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional<T>(value) : std::nullopt;
  }
  static void print(std::ostream& out, T value) { out << value; }
};

/// What the table knows of a setting without its type. Settings are objects of static duration.
class SettingEntry {
 public:
  SettingEntry(const SettingEntry&) = delete;
  SettingEntry& operator=(const SettingEntry&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const char* doc() const noexcept { return doc_; }
  /// The value in effect and the default, as text. Throws InvalidArgument like `Setting::get`.
  [[nodiscard]] virtual std::string value_text() const = 0;
  [[nodiscard]] virtual std::string default_text() const = 0;
  /// Whether `Setting::set` or the environment gives it; false: the default is in effect.
  [[nodiscard]] virtual bool is_given() const = 0;

 protected:
  SettingEntry(const char* name, const char* doc);
  ~SettingEntry();
  [[nodiscard]] std::optional<std::string> environment_text() const;
  /// Somebody asks for a value: the first time, the log says which variables do nothing.
  static void note_use();

 private:
  const char* name_;
  const char* doc_;
};

/// One setting of type T: what `set` gave, else the environment variable `name`, else the default.
///
///   const Setting<int> threads{"TESSERA_THREADS", 0, "Threads that kernels use; 0: all cores"};
///
/// Define it at namespace scope in the file that uses it: it registers itself for the table.
/// Names begin with TESSERA_. The environment is read once, at the first `get`.
template <class T>
class Setting final : public SettingEntry {
 public:
  Setting(const char* name, T default_value, const char* doc)
      : SettingEntry(name, doc), default_(std::move(default_value)) {}

  /// Throws InvalidArgument naming the variable when its text cannot be read as a T.
  [[nodiscard]] T get() const {
    note_use();  // before the lock: the log reads a setting
    const std::lock_guard lock(mutex_);
    if (!value_) {
      value_ = read();
    }
    return *value_;
  }
  /// Overrides the environment, for example by an option of the command line.
  void set(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    set_ = true;
  }
  /// Forgets `set` and reads the environment again at the next `get`.
  void reset() {
    const std::lock_guard lock(mutex_);
    value_.reset();
    set_ = false;
  }

  [[nodiscard]] std::string value_text() const override { return text_of(get()); }
  [[nodiscard]] std::string default_text() const override { return text_of(default_); }
  [[nodiscard]] bool is_given() const override {
    const std::lock_guard lock(mutex_);
    return set_ || environment_text().has_value();
  }

 private:
  static std::string text_of(const T& value) {
    std::ostringstream text;
    SettingType<T>::print(text, value);
    return text.str();
  }
  T read() const {
    const auto text = environment_text();
    if (!text) {
      return default_;
    }
    auto value = SettingType<T>::parse(*text);
    check(value.has_value(), name(), ": cannot be read; got \"", *text, "\", expected ",
          SettingType<T>::kExpected);
    return *std::move(value);
  }

  T default_;
  mutable std::mutex mutex_;
  mutable std::optional<T> value_;
  bool set_ = false;
};

/// All settings, sorted by name.
[[nodiscard]] std::vector<const SettingEntry*> all_settings();

/// Names in the environment that begin with TESSERA_ and belong to no setting: likely misspelt.
[[nodiscard]] std::vector<std::string> unknown_settings();

/// Prints a line per setting: name, value, default, doc. A value that cannot be read is printed as
/// the error it will cause.
void print_settings(std::ostream&);

}  // namespace tessera
