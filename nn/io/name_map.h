// Names of weights elsewhere and here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::nn {

/// Changes the names in which the regular expression `pattern` (ECMAScript) is found: each place
/// becomes `replacement`, in which $1 is the first group. `transpose` swaps the two dims of those
/// tensors.
struct NameRule {
  std::string pattern{};
  std::string replacement{};
  bool transpose = false;
};

/// Rules that are applied one after another, each to what the one before gave. A name that becomes
/// empty leaves its tensor out.
struct NameMap {
  struct Mapped {
    std::string name;
    bool transpose = false;
  };

  std::vector<NameRule> rules{};

  static constexpr std::size_t kLongestName = 1000;  ///< matching takes stack for every byte

  /// Throws ValueError for a pattern that is no regular expression and for a name that is longer
  /// than that, unless there is no rule.
  [[nodiscard]] Mapped operator()(const std::string& name) const;
  /// The rules of `a`, then those of `b`.
  friend NameMap operator+(NameMap a, const NameMap& b);
};

namespace name_maps {

/// Every `from` becomes `to`: {".", "/"}, {"|", "."}.
[[nodiscard]] NameMap separators(std::string_view from, std::string_view to);
/// Drops underscores at the beginning of each step of dotted names.
[[nodiscard]] NameMap without_leading_underscores();
/// Names of Flax to ours: parted by '/', kernels of dense layers (in, out) transposed, `scale` and
/// `embedding` called weight.
[[nodiscard]] NameMap from_flax();
/// Names of OpenAI's GPT-2 as Hugging Face publishes it, of the model alone
/// (h.0.attn.c_attn.weight) or with its head (transformer.h.0.attn.c_attn.weight and
/// lm_head.weight), matrices (in, out), to nanoGPT's (transformer.h.0.attn.c_attn.weight, (out,
/// in)), without its causal masks.
[[nodiscard]] NameMap from_gpt2();
/// The inverse, to the names of the model alone.
[[nodiscard]] NameMap to_gpt2();

}  // namespace name_maps
}  // namespace tessera::nn
