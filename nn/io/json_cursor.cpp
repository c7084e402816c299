#include <tessera/nn/io/json_cursor.h>

#include <array>
#include <cstdio>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::nn {
namespace {

// Note [A cursor in place of a document]. Headers of weight files come from anywhere and may have
// 100 MB. A document of them takes many times that before anybody knows that it is worth it. Their
// form is fixed, so the reader asks for what must come next and holds a piece of the text and one
// name: what is out of place is an error at its byte, and a text that has no end fills no memory.

void append_utf8(std::string& text, char32_t code) {
  const auto continuation = [&](int shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    continuation(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    continuation(6);
    continuation(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace

void JsonCursor::fail_here(const std::string& expected) const {
  fail<IoError>(what_, ": the header is not as it should be at byte ", before_ + at_, "; expected ",
                expected);
}

int JsonCursor::peek() {
  if (at_ == piece_.size()) {
    before_ += std::exchange(at_, 0);
    piece_ = source_();
  }
  return piece_.empty() ? -1 : static_cast<unsigned char>(piece_[at_]);
}

int JsonCursor::next() {
  const int letter = peek();
  at_ += letter >= 0 ? 1 : 0;
  return letter;
}

void JsonCursor::skip_space() {
  for (int letter = peek(); letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
       letter = peek()) {
    ++at_;
  }
}

bool JsonCursor::take(char wanted) {
  skip_space();
  if (peek() != wanted) {
    return false;
  }
  ++at_;
  return true;
}

void JsonCursor::need(char wanted) {
  if (!take(wanted)) {
    fail_here(std::string("'") + wanted + "'");
  }
}

char32_t JsonCursor::hex_digits() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  char32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int letter = peek();
    const int lower = letter >= 'A' && letter <= 'F' ? letter - 'A' + 'a' : letter;
    const std::size_t digit =
        lower < 0 ? std::string_view::npos : kDigits.find(static_cast<char>(lower));
    if (digit == std::string_view::npos) {
      fail_here("four hexadecimal digits");
    }
    value = value * 16 + static_cast<char32_t>(digit);
    ++at_;
  }
  return value;
}

char32_t JsonCursor::code_point() {
  const char32_t first = hex_digits();
  if (first < 0xd800 || first > 0xdfff) {
    return first;
  }
  const bool pair = first < 0xdc00 && next() == '\\' && next() == 'u';
  const char32_t second = pair ? hex_digits() : 0;
  if (second < 0xdc00 || second > 0xdfff) {
    fail_here("the second half of a surrogate pair");
  }
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

void JsonCursor::escape(std::string& into) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const int letter = next();
  if (letter == 'u') {
    append_utf8(into, code_point());
    return;
  }
  const std::size_t index =
      letter < 0 ? std::string_view::npos : kLetters.find(static_cast<char>(letter));
  if (index == std::string_view::npos) {
    fail_here("an escape of JSON");
  }
  into += kMeanings[index];
}

std::string JsonCursor::string() {
  return text_in_quotes(true);
}

std::string JsonCursor::text_in_quotes(bool whole) {
  if (!take('"')) {
    fail_here("a text in quotes");
  }
  std::string result;
  std::string more;
  while (peek() >= 0 && peek() != '"') {
    const int letter = next();
    if (letter < 0x20) {
      fail_here("no control character in a text");
    }
    more.clear();
    letter == '\\' ? escape(more) : more.push_back(static_cast<char>(letter));
    if (result.size() + more.size() <= kLongestText) {
      result += more;
    } else if (whole) {
      fail_here(tessera::detail::concat("a text of at most ", kLongestText, " bytes"));
    }
  }
  need('"');
  return result;
}

std::int64_t JsonCursor::count() {
  skip_space();
  std::int64_t value = 0;
  int digits = 0;
  bool fits = true;
  bool leading_zero = false;
  for (int letter = peek(); letter >= '0' && letter <= '9'; letter = peek(), ++digits) {
    leading_zero = leading_zero || (digits > 0 && value == 0);
    fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, letter - '0', &value);
    ++at_;
  }
  if (digits == 0 || leading_zero || !fits) {
    fail_here("a whole number from 0 to 2^63 - 1");
  }
  return value;
}

void JsonCursor::sequence(char open, char close, const std::function<void()>& item) {
  need(open);
  if (take(close)) {
    return;
  }
  do {
    item();
  } while (take(','));
  need(close);
}

void JsonCursor::object(const std::function<void(const std::string& name)>& member) {
  sequence('{', '}', [&] {
    const std::string name = string();
    need(':');
    member(name);
  });
}

void JsonCursor::list(const std::function<void()>& element) {
  sequence('[', ']', element);
}

void JsonCursor::end() {
  skip_space();
  if (peek() >= 0) {
    fail_here("nothing more");
  }
}

std::string quote_json(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> escaped;
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(letter));
      result += escaped.data();
    } else {
      result += letter;
    }
  }
  return result + '"';
}

}  // namespace tessera::nn
