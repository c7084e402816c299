#include <tessera/core/ops/log_softmax.h>

#include <tessera/kernels/cpu/ops/softmax.h>

namespace tessera::cpu {
namespace {

bool log_softmax_kernel(Kernel& k, const LogSoftmax::Attrs& attrs) {
  return run_softmax(k, attrs, true);
}
bool log_softmax_backward_kernel(Kernel& k, const LogSoftmaxBackward::Attrs& attrs) {
  return run_softmax_backward(k, attrs, true);
}

const RegisterKernel<LogSoftmax, log_softmax_kernel> register_log_softmax{DeviceType::cpu};
const RegisterKernel<LogSoftmaxBackward, log_softmax_backward_kernel> register_log_softmax_backward{
    DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
