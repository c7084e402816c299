#include <tessera/core/ops/embedding.h>

#include <tessera/kernels/cpu/embedding.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

template <class Number>
void look_up(const Kernel& k) {
  const TensorImpl& weight = k.input(0);
  const Indices ids(k.input(1));
  embedding_forward(weight.data<Number>(), weight.shape[0], weight.shape[1], ids.data(),
                    k.input(1).numel(), k.output().dtype, bytes_of(k.output()));
}

bool embedding_kernel(Kernel& k, const Embedding::Attrs&) {
  const TensorImpl& weight = k.input(0);
  const bool wide = is_f64(weight) && is_f64(k.output());
  if (!wide && (!is_f32(weight) || !is_fast(k.output()))) {
    return false;
  }
  wide ? look_up<double>(k) : look_up<float>(k);
  return true;
}

const RegisterKernel<Embedding, embedding_kernel> register_embedding{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
