#include <tessera/core/ops/sum.h>

#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/kernels/cpu/copy.h>
#include <tessera/kernels/cpu/ops/arguments.h>
#include <tessera/kernels/cpu/row_sums.h>

namespace tessera::cpu {
namespace {

/// x as (microbatches, kept dims, reduced dims), which is a matrix of rows to be summed.
struct Rows {
  Shape shape;
  Strides strides;
  std::int64_t count = 1, columns = 1;

  void add(std::int64_t size, std::int64_t stride, bool is_reduced) {
    (is_reduced ? columns : count) *= size;
    if (size != 1) {
      shape.push_back(size);
      strides.push_back(stride);
    }
  }
};

Rows rows_to_sum(const TensorImpl& x, const DimSet& reduced, std::int64_t cuts) {
  Rows rows;
  const int cut_dim = cuts > 1 ? x.microbatches().dim : -1;
  if (cut_dim >= 0) {
    rows.add(cuts, x.shape[cut_dim] / cuts * x.strides[cut_dim], false);
  }
  for (const bool now : {false, true}) {
    for (int d = 0; d < x.shape.size(); ++d) {
      if (reduced[static_cast<std::size_t>(d)] == now) {
        rows.add(d == cut_dim ? x.shape[d] / cuts : x.shape[d], x.strides[d], now);
      }
    }
  }
  return rows;
}

template <class Number>
std::vector<Number> sums_of(const TensorImpl& x, const Rows& rows, double scale) {
  const char* data = bytes_of(x);
  HeldMemory copy;
  if (!is_contiguous(rows.shape, rows.strides)) {
    copy = HeldMemory(static_cast<std::size_t>(x.numel()) * size_of(x.dtype));
    data = reinterpret_cast<const char*>(copy.data());
    copy_strided(rows.shape, size_of(x.dtype), {bytes_of(x), rows.strides},
                 {reinterpret_cast<char*>(copy.data()), contiguous_strides(rows.shape)});
  }
  std::vector<double> sums(static_cast<std::size_t>(rows.count));
  sum_last(x.dtype, data, rows.count, rows.columns, sums.data());
  std::vector<Number> rounded;
  rounded.reserve(sums.size());
  for (const double sum : sums) {
    rounded.push_back(static_cast<Number>(sum * scale));
  }
  return rounded;
}

/// What every element of the output is, in Numbers.
template <class Number>
std::vector<Number> reduced_to(const Kernel& k, const DimSet& reduced, double scale) {
  const Rows rows = rows_to_sum(k.input(), reduced, k.microbatch_count());
  std::vector<Number> sums = sums_of<Number>(k.input(), rows, scale);
  if (!k.per_microbatch()) {
    tree_sum(sums, k.microbatch_count(), rows.count / k.microbatch_count());
  }
  return sums;
}

template <class Out, class Number>
void store(const std::vector<Number>& sums, const TensorImpl& out) {
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    out.data<Out>()[i] = Out(sums[static_cast<std::size_t>(i)]);
  }
}

/// out = the sum of input 0 over the chosen dims, times `scale`. Every layout and cut is brought to
/// rows that are summed in one way, so a microbatch has the same bits alone and among others. False
/// for dtypes that are not fast.
bool run_sum(Kernel& k, const DimSet& reduced, double scale) {
  const TensorImpl& x = k.input();
  const TensorImpl& out = k.output();
  const bool wide = x.dtype == DType::f64 && is_f64(out);
  if ((!wide && !(is_fast(x.dtype) && is_fast(out))) || x.numel() == 0 ||
      x.shape.size() == kMaxDims) {
    return false;
  }
  if (wide) {
    store<double>(reduced_to<double>(k, reduced, scale), out);
  } else if (out.dtype == DType::bf16) {
    store<BFloat16>(reduced_to<float>(k, reduced, scale), out);
  } else {
    store<float>(reduced_to<float>(k, reduced, scale), out);
  }
  return true;
}

bool sum_kernel(Kernel& k, const Sum::Attrs& attrs) {
  return run_sum(k, reduced_dims("sum", attrs, k.input().shape.size()), 1);
}

bool mean_kernel(Kernel& k, const Mean::Attrs& attrs) {
  const TensorImpl& x = k.input();
  const auto outputs = static_cast<double>(k.output().numel());
  return run_sum(k, reduced_dims("mean", attrs, x.shape.size()),
                 outputs / static_cast<double>(x.numel()));
}

bool sum_to_kernel(Kernel& k, const SumTo::Attrs& attrs) {
  const Shape& from = k.input().shape;
  const int offset = from.size() - attrs.shape.size();
  DimSet reduced{};
  for (int d = 0; d < from.size(); ++d) {
    reduced[static_cast<std::size_t>(d)] = d < offset || attrs.shape[d - offset] == 1;
  }
  return run_sum(k, reduced, 1);
}

const RegisterKernel<Sum, sum_kernel> register_sum{DeviceType::cpu};
const RegisterKernel<Mean, mean_kernel> register_mean{DeviceType::cpu};
const RegisterKernel<SumTo, sum_to_kernel> register_sum_to{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
