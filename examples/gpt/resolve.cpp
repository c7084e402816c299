#include "resolve.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <type_traits>

#include <tessera/core/base/error.h>
#include <tessera/core/base/grain.h>

#include "data.h"
#include "prompt.h"

namespace {

struct Size {
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t width;
  std::int64_t context;
  std::int64_t vocab;
};

/// Sizes of GPT-2 as published (Radford et al., 2019, table 2), and a tiny one for bytes.
const std::map<std::string, Size> kPresets{{"tiny", {2, 2, 64, 64, 256}},
                                           {"gpt2", {12, 12, 768, 1024, 50257}},
                                           {"gpt2-medium", {24, 16, 1024, 1024, 50257}},
                                           {"gpt2-large", {36, 20, 1280, 1024, 50257}},
                                           {"gpt2-xl", {48, 25, 1600, 1024, 50257}}};

/// The options that change weights, each with its name on the command line.
template <class O, class F>
void for_each_fixed(O& o, const F& f) {
  f("--layers", o.layers);
  f("--heads", o.heads);
  f("--width", o.width);
  f("--context", o.context);
  f("--vocab", o.vocab);
  f("--dropout", o.dropout);
  f("--untied", o.untied);
  f("--batch", o.batch);
  f("--grain", o.grain);
  f("--order", o.order);
  f("--seed", o.seed);
  f("--dtype", o.dtype);
  f("--lr", o.lr);
  f("--min-lr", o.min_lr);
  f("--warmup", o.warmup);
  f("--weight-decay", o.weight_decay);
  f("--clip", o.clip);
  f("--beta1", o.beta1);
  f("--beta2", o.beta2);
}

template <class T>
std::string to_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    char text[64];  // the shortest digits that read back as the same number
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }
}

template <class T>
void from_text(const std::string& text, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = text;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
  } else {
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
}

void fill_preset(Options& o) {
  if (o.preset.empty()) {
    return;
  }
  const Size& size = kPresets.at(o.preset);
  const auto fill = [&](const char* name, std::int64_t& option, std::int64_t value) {
    if (!o.was_given(name)) {
      option = value;
      o.from_preset.emplace_back(name);
    }
  };
  fill("--layers", o.layers, size.layers);
  fill("--heads", o.heads, size.heads);
  fill("--width", o.width, size.width);
  fill("--context", o.context, size.context);
  fill("--vocab", o.vocab, size.vocab);
}

void check_model(const Options& o) {
  const std::int64_t below = o.width / o.heads * o.heads;
  const std::string above = std::to_string(below + o.heads);
  tessera::check(below == o.width, "--width: must be a multiple of --heads; got ", o.width, " and ",
                 o.heads, ", expected width ",
                 below == 0 ? above : std::to_string(below) + " or " + above);
  const bool tokens = holds_tokens(o.data);
  tessera::check(!tokens || o.was_given("--vocab") || !o.preset.empty() || o.resume,
                 "--vocab: needed for .bin data, the number of different tokens");
  tessera::check(tokens || o.data.empty() || o.vocab >= 256,
                 "--vocab: text is bytes and needs at least 256; got ", o.vocab);
}

/// Who says the value of an option that was not left to defaults; empty when nobody does.
std::string source_of(const Options& o, const std::string& name) {
  const bool preset = std::ranges::find(o.from_preset, name) != o.from_preset.end();
  return preset ? "--preset " + o.preset : o.was_given(name) ? "the command line" : "";
}

}  // namespace

Options spell_out(const Options& given) {
  Options o = given;
  fill_preset(o);
  if (o.grain == 0) {
    std::erase(o.given, "--grain");
  }
  return o;
}

Options resolve(const Options& options) {
  Options o = options;
  check_model(o);
  if (o.grain == 0) {
    o.grain = tessera::default_grain(o.batch);
  }
  if (o.sample > 0) {
    static_cast<void>(prompt_tokens(o));  // what is wrong with it is said before training
  }
  return o;
}

FixedOptions fixed_options(const Options& options) {
  FixedOptions fixed;
  for_each_fixed(options, [&](const char* name, const auto& value) {
    fixed.emplace_back(name, to_text(value));
  });
  return fixed;
}

void adopt(Options& options, const FixedOptions& stored) {
  for_each_fixed(options, [&](const char* name, auto& value) {
    const auto found =
        std::ranges::find(stored, name, [](const auto& entry) { return entry.first; });
    if (found == stored.end()) {
      return;
    }
    const bool same = to_text(value) == found->second;
    const std::string source = source_of(options, name);
    tessera::check(same || source.empty(), name, ": the checkpoint has ", found->second, ", ",
                   source, " ", to_text(value));
    from_text(found->second, value);
  });
}
