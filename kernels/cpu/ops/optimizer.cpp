#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {

bool steps_in_place(const Kernel& k, int in, int out) {
  const int groups = k.input_count() / in;
  for (int i = 0; i < k.input_count(); ++i) {
    if (!k.has_input(i) || !is_f32(k.input(i))) {
      return false;
    }
  }
  for (int group = 0; group < groups; ++group) {
    for (int j = 0; j < out; ++j) {
      const TensorImpl& old = k.input(group * in + (j == 0 ? 0 : j + 1));
      const TensorImpl& now = k.output(group * out + j);
      if (!is_f32(now) || bytes_of(now) != bytes_of(old)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tessera::cpu
