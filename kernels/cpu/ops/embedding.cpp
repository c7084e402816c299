#include <tessera/core/ops/embedding.h>

#include <tessera/kernels/cpu/embedding.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

bool embedding_kernel(Kernel& k, const Embedding::Attrs&) {
  const TensorImpl& weight = k.input(0);
  const TensorImpl& ids = k.input(1);
  if (is_f64(weight) && is_f64(k.output())) {
    embedding_forward(weight.data<double>(), weight.shape[0], weight.shape[1], Indices(ids).data(),
                      ids.numel(), k.output().data<double>());
    return true;
  }
  if (!is_f32(weight) || !is_fast(k.output())) {
    return false;
  }
  const Indices indices(ids);
  embedding_forward(weight.data<float>(), weight.shape[0], weight.shape[1], indices.data(),
                    ids.numel(), k.output().dtype, bytes_of(k.output()));
  return true;
}

const RegisterKernel<Embedding, embedding_kernel> register_embedding{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
