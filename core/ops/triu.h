// The upper triangle of matrices.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Triu {
  static constexpr OpInfo info{
      .name = "triu", .doc = "x with zeros below a diagonal", .linear = LinearIn::first};
  struct Attrs {
    std::int64_t diagonal = 0;
    void fields(auto&& see) const { see("diagonal", diagonal); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x (..., rows, columns) with zeros below the diagonal number `diagonal`: 0 is the main one,
/// positive ones lie above it.
[[nodiscard]] Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace tessera
