#include <tessera/core/ops/support/microbatch_sum.h>

#include <complex>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {
namespace {

/// One sum a microbatch, each as wide as `count` outputs.
template <class C>
std::vector<C> sums_of_microbatches(const Kernel& k, const Strides& to, std::int64_t count) {
  const TensorImpl& x = k.input();
  std::vector<C> sums(static_cast<std::size_t>(k.microbatch_count() * count), C(0));
  const int cut_dim = x.microbatches().dim;
  const std::int64_t microbatch_size =
      k.microbatch_count() > 1 ? x.shape[cut_dim] / k.microbatch_count() : 1;
  StridedCounter<2> at(x.shape, {x.strides, to});
  for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
    const std::int64_t microbatch =
        k.microbatch_count() > 1 ? at.index()[cut_dim] / microbatch_size : 0;
    sums[static_cast<std::size_t>(microbatch * count + at.offsets[1])] +=
        load_as<C>(x, at.offsets[0]);
  }
  return sums;
}

/// The element type in which pieces are added: what the output stores, or f32 for 16-bit floats.
template <class To, class C>
void add_and_store(Kernel& k, const std::vector<C>& sums, std::int64_t count) {
  std::vector<To> pieces(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    pieces[i] = convert<To>(sums[i]);
  }
  if (!k.per_microbatch()) {
    tree_sum(pieces, k.microbatch_count(), count);
  }
  store_values(k.output(), pieces);
}

}  // namespace

void sum_by_microbatch(Kernel& k, const Strides& to) {
  const DType dtype = k.output().dtype;
  const std::int64_t pieces = k.per_microbatch() ? k.microbatch_count() : 1;
  const std::int64_t count = k.output().numel() / pieces;
  if (is_complex(dtype)) {
    add_and_store<std::complex<double>>(k, sums_of_microbatches<std::complex<double>>(k, to, count),
                                        count);
  } else if (dtype == DType::f64) {
    add_and_store<double>(k, sums_of_microbatches<double>(k, to, count), count);
  } else if (is_floating(dtype)) {
    add_and_store<float>(k, sums_of_microbatches<double>(k, to, count), count);
  } else {
    add_and_store<std::int64_t>(k, sums_of_microbatches<std::int64_t>(k, to, count), count);
  }
}

}  // namespace tessera
