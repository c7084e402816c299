#include "prompt.h"

#include <charconv>
#include <sstream>
#include <string>

#include <tessera/core/base/error.h>

#include "data.h"

namespace {

std::int64_t read_number(const std::string& word) {
  std::int64_t number = -1;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  tessera::check(parsed.ec == std::errc() && parsed.ptr == end,
                 "--prompt: with .bin data these are numbers of tokens; got ", word,
                 ", expected a number");
  return number;
}

std::vector<std::int64_t> read_numbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  std::istringstream words(text);
  std::string word;
  while (words >> word) {
    numbers.push_back(read_number(word));
  }
  return numbers;
}

std::vector<std::int64_t> bytes_of(const std::string& text) {
  std::vector<std::int64_t> bytes;
  for (const unsigned char c : text) {
    bytes.push_back(c);
  }
  return bytes;
}

}  // namespace

std::vector<std::int64_t> prompt_tokens(const Options& o) {
  const bool numbers = holds_tokens(o.data);
  const std::string zero = "0";
  const std::string& text = numbers && !o.was_given("--prompt") ? zero : o.prompt;
  std::vector<std::int64_t> tokens = numbers ? read_numbers(text) : bytes_of(text);
  tessera::check(!tokens.empty(), "--prompt: empty; got 0 tokens, expected 1 or more");
  for (const std::int64_t token : tokens) {
    tessera::check(token >= 0 && token < o.vocab, "--prompt: outside the vocabulary; got token ",
                   token, ", expected 0 to ", o.vocab - 1);
  }
  return tokens;
}
