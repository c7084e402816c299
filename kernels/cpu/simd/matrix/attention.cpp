#include <tessera/kernels/cpu/simd/matrix/attention.h>

#include <array>
#include <cstdint>
#include <cstring>

#include <tessera/core/tensor/dtype.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/matrix/attention_backward.h>
#include <tessera/kernels/cpu/simd/matrix/attention_forward.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

template <class T>
void forward(const Attention& a, std::int64_t batch, std::int64_t key_head, std::int64_t part,
             std::int64_t parts) {
  ForwardHead<T>(a, batch, key_head).run(part, parts);
}

template <class T>
void backward(const AttentionGradient& g, std::int64_t batch, std::int64_t key_head) {
  BackwardHead<T>(g, batch, key_head).run();
}

template <class T>
void backward_of_keys(const AttentionGradient& g, std::int64_t batch, std::int64_t key_head,
                      std::int64_t tile) {
  BackwardHead<T>(g, batch, key_head).run_keys(tile);
}
template <class T>
void backward_of_queries(const AttentionGradient& g, std::int64_t batch, std::int64_t key_head,
                         std::int64_t tile) {
  BackwardHead<T>(g, batch, key_head).run_queries(tile);
}

constexpr AttentionTable kAttentionTable{
    {forward<float>, forward<BFloat16>, forward<double>},
    {backward<float>, backward<BFloat16>, backward<double>},
    {backward_of_keys<float>, backward_of_keys<BFloat16>, backward_of_keys<double>},
    {backward_of_queries<float>, backward_of_queries<BFloat16>, backward_of_queries<double>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kAttentionAdded =
    IsaTable<AttentionTable>::add(Isa::TESSERA_ISA, &kAttentionTable);
}
