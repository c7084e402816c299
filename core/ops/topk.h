// The largest elements.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Topk {
  static constexpr OpInfo info{
      .name = "topk",
      .doc = "the k largest or smallest elements along a dim, and where they lie",
      .saved_outputs = 0b10};
  struct Attrs {
    std::int64_t k = 1;
    int dim = -1;
    bool largest = true;
    void fields(auto&& see) const { see("k", k), see("dim", dim), see("largest", largest); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

struct TopkResult {
  Tensor values;
  Tensor positions;  ///< i64
};

/// The `k` largest (or smallest) elements along `dim`, best first; of equal ones the first. A nan
/// counts as largest. No complex numbers.
[[nodiscard]] TopkResult topk(const Tensor& x, std::int64_t k, int dim = -1, bool largest = true);

}  // namespace tessera
