// Kernels that multiply, by the floating point operations of their products.
#pragma once

#include <string>
#include <vector>

#include <tessera/kernels/cpu/attention.h>
#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/product_library.h>

#include "subject.h"

namespace bench {

using tessera::DType;
using tessera::Tensor;
using tessera::cpu::ProductProvider;

inline Subject gemm(const char* kind, std::int64_t m, std::int64_t n, std::int64_t k,
                    DType compute) {
  const bool half = compute == DType::bf16;
  const std::string shape = std::string(kind) + "_" + std::to_string(m) + "x" + std::to_string(n) +
                            "x" + std::to_string(k);
  const bool of_weight = kind == std::string("grad_weight");
  const bool forward = kind == std::string("forward");
  const Tensor a = tessera::rand({m, k}, {.dtype = compute});
  const Tensor b = tessera::rand({k, n}, {.dtype = of_weight ? compute : DType::f32});
  const Tensor c = values(m, n);
  const auto multiply = [=](ProductProvider provider) {
    tessera::cpu::set_product_provider(provider);
    tessera::cpu::Gemm g;
    g.m = m, g.n = n, g.k = k, g.compute = compute;
    g.a = {a.raw_data(), a.dtype(), of_weight ? 1 : k, of_weight ? m : 1};
    g.b = {b.raw_data(), b.dtype(), forward ? 1 : n, forward ? k : 1};
    g.c = c.raw_data(), g.c_stride = n;
    tessera::cpu::gemm(g);
  };
  Subject subject{"gemm",
                  "\"shape\": \"" + shape + "\", \"dtype\": \"" + (half ? "bf16" : "f32") + "\", ",
                  half ? Roof::fma_bf16 : Roof::fma_f32,
                  2.0 * static_cast<double>(m * n) * static_cast<double>(k),
                  [=] { multiply(ProductProvider::own); },
                  {}};
  if (tessera::cpu::has_product_library()) {
    subject.rival = [=] { multiply(ProductProvider::onednn); };
  }
  return subject;
}

/// Causal, forward and backward: 7 products over half of the square.
inline Subject attention(std::int64_t batch, std::int64_t length, DType dtype, double dropout) {
  constexpr std::int64_t kHeads = 12, kDim = 64;
  const auto make = [&] { return tessera::rand({batch, length, kHeads, kDim}, {.dtype = dtype}); };
  const std::vector<Tensor> all{make(), make(), make(), make(), make(), make(), make(), make()};
  const Tensor sums = values(batch * kHeads, 2 * length);
  const double square = static_cast<double>(batch * kHeads * length) * static_cast<double>(length);
  const std::string name = tessera::to_string(dtype).data();
  std::string labels = "\"length\": " + std::to_string(length);
  labels += ", \"dtype\": \"" + name + "\", ";
  labels += dropout > 0 ? "\"dropout\": true, " : "";
  return {"attention", labels, dtype == DType::bf16 ? Roof::fma_bf16 : Roof::fma_f32,
          7 * square * kDim, [=] {
            const auto heads = [&](std::size_t i) {
              return tessera::cpu::Heads{all[i].raw_data(), length * kHeads * kDim, kDim,
                                         kHeads * kDim};
            };
            tessera::cpu::AttentionGradient g;
            tessera::cpu::Attention& a = g.forward;
            a.batch = batch, a.heads = a.key_heads = kHeads, a.head_dim = kDim, a.dtype = dtype;
            a.queries = a.keys = length, a.scale = 0.125F, a.causal = true;
            a.q = heads(0), a.k = heads(1), a.v = heads(2), a.out = heads(3);
            a.sums = reinterpret_cast<tessera::ScoreSum<float>*>(sums.data<float>());
            a.dropout = tessera::cpu::DropoutDraw(dropout, 1, 0);
            g.dout = heads(4), g.dq = heads(5), g.dk = heads(6), g.dv = heads(7);
            tessera::cpu::attention_forward(a);
            tessera::cpu::attention_backward(g);
          }};
}

}  // namespace bench
