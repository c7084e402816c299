#include <tessera/nn/io/json_cursor.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include <tessera/core/base/error.h>

namespace tessera::nn {
namespace {

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
  fail<IoError>(what_, ": the header is not as it should be at byte ", at_, "; expected ",
                expected);
}

void JsonCursor::skip_space() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
    ++at_;
  }
}

bool JsonCursor::take(char wanted) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != wanted) {
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
  unsigned value = 0;
  const char* begin = text_.data() + at_;
  const bool enough = at_ + 4 <= text_.size();
  if (!enough || std::from_chars(begin, begin + 4, value, 16).ptr != begin + 4) {
    fail_here("four hexadecimal digits");
  }
  at_ += 4;
  return value;
}

char32_t JsonCursor::code_point() {
  const char32_t first = hex_digits();
  if (first < 0xd800 || first > 0xdfff) {
    return first;
  }
  const bool pair = first < 0xdc00 && text_.substr(at_, 2) == "\\u";
  at_ += pair ? 2 : 0;
  const char32_t second = pair ? hex_digits() : 0;
  if (second < 0xdc00 || second > 0xdfff) {
    fail_here("the second half of a surrogate pair");
  }
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

void JsonCursor::escape(std::string& into) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ < text_.size() ? text_[at_++] : '\0';
  if (letter == 'u') {
    append_utf8(into, code_point());
    return;
  }
  const std::size_t index = kLetters.find(letter);
  if (index == std::string_view::npos) {
    fail_here("an escape of JSON");
  }
  into += kMeanings[index];
}

std::string JsonCursor::string() {
  if (!take('"')) {
    fail_here("a text in quotes");
  }
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    const char letter = text_[at_];
    if (static_cast<unsigned char>(letter) < 0x20) {
      fail_here("no control character in a text");
    }
    ++at_;
    if (letter == '\\') {
      escape(result);
    } else {
      result += letter;
    }
  }
  need('"');
  return result;
}

std::int64_t JsonCursor::count() {
  skip_space();
  std::int64_t value = 0;
  const char* begin = text_.data() + at_;
  const char* limit = text_.data() + text_.size();
  const bool digit = begin != limit && *begin >= '0' && *begin <= '9';
  const bool leading_zero =
      limit - begin > 1 && begin[0] == '0' && begin[1] >= '0' && begin[1] <= '9';
  const auto result = std::from_chars(begin, limit, value);
  if (!digit || leading_zero || result.ec != std::errc()) {
    fail_here("a whole number from 0 to 2^63 - 1");
  }
  at_ += static_cast<std::size_t>(result.ptr - begin);
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
  if (at_ != text_.size()) {
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
