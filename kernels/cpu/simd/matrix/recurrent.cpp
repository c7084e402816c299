#include <cstdint>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/matrix/recurrent_backward.h>
#include <tessera/kernels/cpu/simd/matrix/recurrent_forward.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

template <class T>
void forward(const RecurrentForwardOf<NumberOf<T>>& call,
             const RecurrentUnitsOf<NumberOf<T>>& units) {
  switch (call.cell) {
    case RecurrentCell::rnn_tanh:
      return ForwardStep<T, RecurrentCell::rnn_tanh>(call, units).run();
    case RecurrentCell::rnn_relu:
      return ForwardStep<T, RecurrentCell::rnn_relu>(call, units).run();
    case RecurrentCell::lstm:
      return ForwardStep<T, RecurrentCell::lstm>(call, units).run();
    case RecurrentCell::gru:
      return ForwardStep<T, RecurrentCell::gru>(call, units).run();
  }
}

template <class T>
void backward(const RecurrentBackwardOf<NumberOf<T>>& call,
              const RecurrentUnitsOf<NumberOf<T>>& units, bool past_the_first) {
  switch (call.cell) {
    case RecurrentCell::rnn_tanh:
      return BackwardStep<T, RecurrentCell::rnn_tanh>(call, units).run(past_the_first);
    case RecurrentCell::rnn_relu:
      return BackwardStep<T, RecurrentCell::rnn_relu>(call, units).run(past_the_first);
    case RecurrentCell::lstm:
      return BackwardStep<T, RecurrentCell::lstm>(call, units).run(past_the_first);
    case RecurrentCell::gru:
      return BackwardStep<T, RecurrentCell::gru>(call, units).run(past_the_first);
  }
}

constexpr RecurrentTable kRecurrentTable{
    {Factors<float>::kKernel, Factors<BFloat16>::kKernel},
    {forward<float>, forward<BFloat16>},
    {backward<float>, backward<BFloat16>},
    {to_words<float>, to_words<BFloat16>},
    {Factors<double>::kKernel, forward<double>, backward<double>, to_words<double>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kRecurrentAdded =
    IsaTable<RecurrentTable>::add(Isa::TESSERA_ISA, &kRecurrentTable);
}
