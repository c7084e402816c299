#include <tessera/nn/io/name_map.h>

#include <regex>

#include <tessera/core/base/error.h>

namespace tessera::nn {
namespace {

std::regex compiled(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& error) {
    fail<ValueError>("name map: '", pattern, "' is no regular expression: ", error.what());
  }
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const bool special = std::string_view(R"(^$\.*+?()[]{}|)").find(letter) != std::string::npos;
    result += special ? "\\" : "";
    result += letter;
  }
  return result;
}

}  // namespace

NameMap::Mapped NameMap::operator()(const std::string& name) const {
  Mapped mapped{name};
  for (const NameRule& rule : rules) {
    check<ValueError>(mapped.name.size() <= kLongestName, "name map: a name has ",
                      mapped.name.size(), " bytes; expected at most ", kLongestName);
    const std::regex pattern = compiled(rule.pattern);
    if (std::regex_search(mapped.name, pattern)) {
      mapped.name = std::regex_replace(mapped.name, pattern, rule.replacement);
      mapped.transpose = mapped.transpose != rule.transpose;
    }
  }
  return mapped;
}

NameMap operator+(NameMap a, const NameMap& b) {
  a.rules.insert(a.rules.end(), b.rules.begin(), b.rules.end());
  return a;
}

namespace name_maps {

NameMap separators(std::string_view from, std::string_view to) {
  return {{{escaped(from), std::string(to)}}};
}

NameMap without_leading_underscores() {
  return {{{R"((^|\.)_+)", "$1"}}};
}

NameMap from_flax() {
  return {{{"/", "."},
           {R"((^|\.)kernel$)", "$1weight", true},
           {R"((^|\.)(scale|embedding)$)", "$1weight"}}};
}

NameMap from_gpt2() {
  return {{{R"(^(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)$)", ""},
           {R"(^((transformer\.)?h\.\d+\.(attn|mlp)\.c_\w+\.weight)$)", "$1", true},
           {R"(^(wte|wpe|h|ln_f)\.)", "transformer.$1."}}};
}

NameMap to_gpt2() {
  return {{{R"(^transformer\.(h\.\d+\.(attn|mlp)\.c_\w+\.weight)$)", "$1", true},
           {R"(^transformer\.)", ""}}};
}

}  // namespace name_maps
}  // namespace tessera::nn
