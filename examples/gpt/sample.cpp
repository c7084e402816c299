#include "sample.h"

#include <algorithm>
#include <cstdio>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/tensor/factories.h>

using tessera::Tensor;

namespace {

constexpr double kTemperature = 0.8;

void print_token(std::int64_t token, bool bytes) {
  if (bytes) {
    std::putchar(static_cast<int>(token));
  } else {
    std::printf("%lld ", static_cast<long long>(token));
  }
}

}  // namespace

void sample(const tessera::nn::Ptr<Gpt>& model, const Options& o) {
  const tessera::InferenceGuard inference;
  model->eval();
  std::vector<std::int64_t> tokens;
  for (const unsigned char c : o.prompt) {
    tokens.push_back(c);
  }
  std::puts("");
  for (std::int64_t i = 0; i < o.sample + static_cast<std::int64_t>(o.prompt.size()); ++i) {
    if (i >= static_cast<std::int64_t>(o.prompt.size())) {
      const auto length = std::min(static_cast<std::int64_t>(tokens.size()), o.context);
      const Tensor ids = tessera::from_values(
          std::span<const std::int64_t>(tokens).last(static_cast<std::size_t>(length)),
          {1, length});
      const Tensor logits = model->next_logits(ids) * (1 / kTemperature);
      tokens.push_back(tessera::multinomial(tessera::softmax(logits, -1), 1).item<std::int64_t>());
    }
    print_token(tokens[static_cast<std::size_t>(i)], o.vocab <= 256);
  }
  std::puts("");
}
