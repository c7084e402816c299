#include <tessera/core/ops/embedding.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void Embedding::infer(Infer& c, const Attrs&) {
  const Tensor& weight = c.input(0);
  const Tensor& ids = c.input(1);
  check_layout(weight.ndim() == 2, "embedding", "weight", weight.shape(), "(rows, width)");
  check_integer("embedding", "ids", ids.dtype());
  Shape shape = ids.shape();
  shape.push_back(weight.shape()[1]);
  c.add_output(shape, weight.dtype());
}

void Embedding::reference(Kernel& k, const Attrs&) {
  const TensorImpl& weight = k.input(0);
  const TensorImpl& ids = k.input(1);
  TensorImpl& out = k.output();
  const std::int64_t width = weight.shape[1];
  StridedCounter<1> at_id(ids.shape, {ids.strides});
  visit_dtype(out.dtype, [&]<class T>() {
    T* to = out.data<T>();
    for (std::int64_t i = 0; i < ids.numel(); ++i, at_id.next()) {
      const auto id = load_as<std::int64_t>(ids, at_id.offsets[0]);
      check(id >= 0 && id < weight.shape[0], "embedding: id out of range; got ", id,
            ", expected [0, ", weight.shape[0], ")");
      for (std::int64_t j = 0; j < width; ++j) {
        *to++ = weight.data<T>()[id * weight.strides[0] + j * weight.strides[1]];
      }
    }
  });
}

void Embedding::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor ids = v.input(1);
  Tensor gradient = v.gradient();
  if (attrs.padding_idx >= 0) {
    gradient = where(unsqueeze(eq(ids, attrs.padding_idx), -1), 0, gradient);
  }
  v.set_sparse(0, ids, gradient);
}

ShardRule Embedding::shard(const Infer& c, const Attrs&) {
  const int ids_ndim = c.input(1).ndim();
  const DimLabels out = DimLabels::numbered(ids_ndim + 1);
  DimLabels weight(2);
  weight[1] = out[ids_ndim];
  return {.inputs = {weight, DimLabels::numbered(ids_ndim)}, .outputs = {out}};
}

Tensor embedding(const Tensor& weight, const Tensor& ids, std::optional<std::int64_t> padding_idx) {
  if (!padding_idx || weight.ndim() != 2) {
    return call<Embedding>({weight, ids});
  }
  const std::int64_t rows = weight.size(0);
  check(*padding_idx >= -rows && *padding_idx < rows, "embedding: padding_idx out of range; got ",
        *padding_idx, ", expected [", -rows, ", ", rows, ")");
  return call<Embedding>({weight, ids}, {*padding_idx < 0 ? *padding_idx + rows : *padding_idx});
}

const Register<Embedding> register_embedding;

}  // namespace tessera
