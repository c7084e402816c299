// Rows N1 and N2: names of weights elsewhere and here.
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/name_map.h>

namespace tessera::nn {
namespace {

std::string text(const NameMap& map, const std::string& name) {
  const NameMap::Mapped mapped = map(name);
  return mapped.name + (mapped.transpose ? " transposed" : "");
}

TEST(NameMap, without_rules_changes_nothing) {
  EXPECT_EQ(text({}, "a.b"), "a.b");
  EXPECT_EQ(text({}, std::string(5000, 'a')), std::string(5000, 'a'));
}

TEST(NameMap, separators) {
  EXPECT_EQ(text(name_maps::separators("/", "."), "a/b/c"), "a.b.c");
  EXPECT_EQ(text(name_maps::separators("|", "."), "a|b"), "a.b");
  EXPECT_EQ(text(name_maps::separators(".", "|"), "a.b"), "a|b");
}

TEST(NameMap, leading_underscores) {
  EXPECT_EQ(text(name_maps::without_leading_underscores(), "_a.__b.c_d"), "a.b.c_d");
}

TEST(NameMap, flax) {
  EXPECT_EQ(text(name_maps::from_flax(), "dense/kernel"), "dense.weight transposed");
  EXPECT_EQ(text(name_maps::from_flax(), "norm/scale"), "norm.weight");
  EXPECT_EQ(text(name_maps::from_flax(), "dense/bias"), "dense.bias");
}

TEST(NameMap, gpt2) {
  const NameMap map = name_maps::from_gpt2();
  EXPECT_EQ(text(map, "h.11.attn.c_attn.weight"), "transformer.h.11.attn.c_attn.weight transposed");
  EXPECT_EQ(text(map, "h.0.mlp.c_proj.weight"), "transformer.h.0.mlp.c_proj.weight transposed");
  EXPECT_EQ(text(map, "h.0.mlp.c_proj.bias"), "transformer.h.0.mlp.c_proj.bias");
  EXPECT_EQ(text(map, "h.0.attn.bias"), "");
  EXPECT_EQ(text(map, "wte.weight"), "transformer.wte.weight");
  EXPECT_EQ(text(map, "lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(text(map, "ln_f.bias"), "transformer.ln_f.bias");
  EXPECT_EQ(text(map, "h.0.attn.masked_bias"), "");
  for (const char* name : {"h.11.attn.c_attn.weight", "h.0.ln_1.bias", "wpe.weight"}) {
    const NameMap::Mapped here = map(name);
    const NameMap::Mapped back = name_maps::to_gpt2()(here.name);
    EXPECT_EQ(back.name, name);
    EXPECT_EQ(back.transpose, here.transpose);
  }
}

TEST(NameMap, gpt2_with_its_head) {
  const NameMap map = name_maps::from_gpt2();
  for (const char* name : {"h.11.attn.c_attn.weight", "h.0.attn.c_proj.weight", "h.0.attn.bias",
                           "h.0.attn.masked_bias", "h.0.attn.c_attn.bias", "h.0.ln_1.weight",
                           "h.0.mlp.c_fc.weight", "wte.weight", "wpe.weight", "ln_f.weight"}) {
    EXPECT_EQ(text(map, std::string("transformer.") + name), text(map, name)) << name;
  }
}

TEST(NameMap, rules_follow_one_another) {
  const NameMap both = name_maps::separators("/", ".") + name_maps::without_leading_underscores();
  EXPECT_EQ(text(both, "a/_b"), "a.b");
  EXPECT_EQ(text({{{"a", "b", true}, {"b", "c", true}}}, "a"), "c");  // twice is not at all
}

TEST(NameMap, refuses_bad_patterns_and_endless_names) {
  const NameMap bad{{{"(", ""}}};
  EXPECT_THROW((void)bad("a"), ValueError);
  EXPECT_THROW((void)name_maps::from_flax()(std::string(1001, 'a')), ValueError);
}

}  // namespace
}  // namespace tessera::nn
