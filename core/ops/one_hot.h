// Numbers as unit vectors.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct OneHot {
  static constexpr OpInfo info{.name = "one_hot",
                               .doc = "1 at the position that each element names, else 0",
                               .differentiable = false};
  struct Attrs {
    std::int64_t classes = 1;
    void fields(auto&& see) const { see("classes", classes); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// x (...) of integers in [0, classes) -> (..., classes) of i64. Throws InvalidArgument for others.
[[nodiscard]] Tensor one_hot(const Tensor& x, std::int64_t classes);

}  // namespace tessera
