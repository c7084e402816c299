// Reads JSON of a known form, front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::nn {

/// A place in a JSON text. Every member skips white space, reads one thing, and throws IoError with
/// `what` and the byte if something else is there.
class JsonCursor {
 public:
  /// `text` must outlive the cursor; `what` begins its errors.
  JsonCursor(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  [[nodiscard]] std::string string();
  /// A whole number that is not negative and fits 63 bits.
  [[nodiscard]] std::int64_t count();
  /// An object: calls `member` for each name, with the cursor before the value.
  void object(const std::function<void(const std::string& name)>& member);
  /// A list: calls `element` before each element.
  void list(const std::function<void()>& element);
  /// Nothing but white space is left.
  void end();
  [[noreturn]] void fail_here(const std::string& expected) const;

 private:
  void skip_space();
  bool take(char wanted);
  void need(char wanted);
  char32_t hex_digits();
  char32_t code_point();
  void escape(std::string& into);
  void sequence(char open, char close, const std::function<void()>& item);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string what_;
};

/// `text` in quotes, with what JSON asks to escape escaped.
[[nodiscard]] std::string quote_json(std::string_view text);

}  // namespace tessera::nn
