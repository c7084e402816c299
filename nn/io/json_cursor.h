// Reads JSON of a known form, front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::nn {

/// A place in a JSON text that comes in pieces. Every member skips white space, reads one thing,
/// and throws IoError with `what` and the byte if something else is there.
class JsonCursor {
 public:
  /// Gives the next piece of the text, which must live until the next is asked for; empty at the
  /// end.
  using Source = std::function<std::string_view()>;

  /// `what` begins the errors.
  JsonCursor(Source source, std::string what)
      : source_(std::move(source)), what_(std::move(what)) {}

  /// A text of at most `kLongestText` bytes.
  [[nodiscard]] std::string string();
  /// A text of any length, of which `kLongestText` bytes are kept.
  [[nodiscard]] std::string beginning_of_string() { return text_in_quotes(false); }
  /// A whole number that is not negative and fits 63 bits.
  [[nodiscard]] std::int64_t count();
  /// An object: calls `member` for each name, with the cursor before the value.
  void object(const std::function<void(const std::string& name)>& member);
  /// A list: calls `element` before each element.
  void list(const std::function<void()>& element);
  /// Nothing but white space is left.
  void end();
  [[noreturn]] void fail_here(const std::string& expected) const;

  static constexpr std::size_t kLongestText = 64 << 10;

 private:
  /// The next byte, or -1 at the end of the text.
  [[nodiscard]] int peek();
  int next();
  void skip_space();
  bool take(char wanted);
  void need(char wanted);
  char32_t hex_digits();
  char32_t code_point();
  void escape(std::string& into);
  std::string text_in_quotes(bool whole);
  void sequence(char open, char close, const std::function<void()>& item);

  Source source_;
  std::string_view piece_;
  std::size_t at_ = 0;      ///< in the piece
  std::size_t before_ = 0;  ///< bytes before the piece
  std::string what_;
};

/// `text` in quotes, with what JSON asks to escape escaped.
[[nodiscard]] std::string quote_json(std::string_view text);

}  // namespace tessera::nn
