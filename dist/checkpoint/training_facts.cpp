#include <tessera/dist/checkpoint/training_facts.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

using Words = std::vector<std::string>;

struct Escape {
  char meant, written;
};
constexpr std::array<Escape, 3> kEscapes{{{'\t', 't'}, {'\n', 'n'}, {'\\', '\\'}}};

template <class T>
std::string write_number(T value) {
  char text[64];  // the shortest digits that read back as the same number
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class T>
bool read_number(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

/// The single numbers among the facts, by name.
template <class F, class Visit>
void each_number(F& facts, const Visit& visit) {
  visit("step", facts.step);
  visit("seed", facts.seed);
  visit("batches", facts.batches);
  visit("loader.position", facts.loader.position);
  visit("loader.batch size", facts.loader.batch_size);
  visit("loader.grain", facts.loader.grain);
  visit("loader.seed", facts.loader.seed);
}

/// `word` without the characters that end words and lines: a backslash stands before what stands
/// for one.
std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) {
    const auto* special = std::ranges::find(kEscapes, c, &Escape::meant);
    special == kEscapes.end() ? text += c : (text += '\\') += special->written;
  }
  return text;
}

/// The words of a line, which may be empty.
Words split(const std::string& line) {
  Words words(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      words.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      const auto* special = std::ranges::find(kEscapes, line[++i], &Escape::written);
      words.back() += special == kEscapes.end() ? line[i] : special->meant;
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

/// False for a line that means nothing here.
bool read_line(const Words& words, TrainingFacts& facts,
               std::map<std::string, std::string>& numbers) {
  if (words.size() == 2 && words[0] == "order") {
    facts.loader.order = words[1];
    return true;
  }
  if (words.size() == 2 && words[0] == "state") {
    facts.optimizer_tensors.push_back(words[1]);
    return true;
  }
  if (words.size() == 2) {
    return numbers.emplace(words[0], words[1]).second;
  }
  if (words.size() == 3 && words[0] == "option") {
    facts.options.emplace_back(words[1], words[2]);
    return true;
  }
  if (words.size() == 3 && words[0] == "bits") {
    facts.bits.emplace_back(words[1], words[2]);
    return true;
  }
  std::uint64_t fact = 0;
  if (words.size() == 3 && words[0] == "data" && read_number(words[2], fact)) {
    facts.loader.data.emplace_back(words[1], fact);
    return true;
  }
  if (words.size() == 3 && words[0] == "random" && read_number(words[2], fact)) {
    facts.random.emplace_back(words[1], fact);
    return true;
  }
  double value = 0;
  LossKey loss;
  if (words.size() == 4 && words[0] == "elements" && read_number(words[1], loss.source) &&
      read_number(words[2], loss.backward) && read_number(words[3], value)) {
    facts.elements.emplace(loss, value);
    return true;
  }
  const bool optimizer = words.size() == 3 && words[0] == "optimizer";
  if (optimizer && read_number(words[2], value)) {
    facts.optimizer.emplace_back(words[1], value);
    return true;
  }
  return false;
}

}  // namespace

std::string to_text(const TrainingFacts& facts) {
  std::string text;
  const auto line = [&](const std::string& key, const auto&... words) {
    text += key;
    ((text += '\t' + escaped(words)), ...);
    text += '\n';
  };
  each_number(facts, [&](const char* name, auto value) { line(name, write_number(value)); });
  line("order", facts.loader.order);
  for (const auto& [name, value] : facts.loader.data) {
    line("data", name, write_number(value));
  }
  for (const auto& [name, value] : facts.options) {
    line("option", name, value);
  }
  for (const auto& [name, value] : facts.optimizer) {
    line("optimizer", name, write_number(value));
  }
  for (const std::string& name : facts.optimizer_tensors) {
    line("state", name);
  }
  for (const auto& [name, value] : facts.bits) {
    line("bits", name, value);
  }
  for (const auto& [loss, value] : facts.elements) {
    line("elements", write_number(loss.source), write_number(loss.backward), write_number(value));
  }
  for (const auto& [name, value] : facts.random) {
    line("random", name, write_number(value));
  }
  return text;
}

TrainingFacts facts_from_text(const std::string& text, const std::string& file) {
  TrainingFacts facts;
  std::map<std::string, std::string> numbers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    check<IoError>(read_line(split(line), facts, numbers), file,
                   ": the attribute \"training\" has a line that cannot be read: ", line);
  }
  each_number(facts, [&](const char* name, auto& value) {
    check<IoError>(numbers.contains(name) && read_number(numbers[name], value), file,
                   ": the attribute \"training\" lacks ", name);
  });
  return facts;
}

}  // namespace tessera::dist
