// What tril and triu share.
#pragma once

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

/// An op inherits it and adds the rest.
struct Triangle {
  struct Attrs {
    std::int64_t diagonal = 0;
    void fields(auto&& see) const { see("diagonal", diagonal); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  /// One output like the input, which must hold matrices.
  static void infer(Infer& c, const Attrs&);
  /// Dims in front of the matrices can be cut.
  static ShardRule shard(const Infer& c, const Attrs&);
};

/// The input where keep(column - row), else 0.
template <class Keep>
void keep_triangle(Kernel& k, const Keep& keep) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  const int last = x.shape.size() - 1;
  StridedCounter<2> at(x.shape, {x.strides, y.strides});
  visit_dtype(x.dtype, [&]<class T>() {
    for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
      const bool kept = keep(at.index()[last] - at.index()[last - 1]);
      y.data<T>()[at.offsets[1]] = kept ? x.data<T>()[at.offsets[0]] : convert<T>(0);
    }
  });
}

}  // namespace tessera
