// Every step-th element of a range along one dim.
#pragma once

#include <cstdint>
#include <limits>

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct Slice {
  static constexpr OpInfo info{
      .name = "slice", .doc = "elements start, start + step, ... of one dim", .view = true};
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  struct Attrs {
    int dim = 0;
    std::int64_t start = 0;
    std::int64_t end = kEnd;
    std::int64_t step = 1;
    void fields(auto&& see) const {
      see("dim", dim), see("start", start), see("end", end), see("step", step);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void alias(const TensorImpl& in, TensorImpl& out, int index, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Elements `start`, `start` + `step`, ... below `end` of dim `dim`, as a view. As in Python,
/// negative positions count from the end, and those beyond it mean it. Throws InvalidArgument for a
/// step below 1.
[[nodiscard]] Tensor slice(const Tensor& x, int dim, std::int64_t start,
                           std::int64_t end = Slice::kEnd, std::int64_t step = 1);

}  // namespace tessera
