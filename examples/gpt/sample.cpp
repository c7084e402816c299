#include "sample.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/multinomial.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

#include "prompt.h"
#include "signals.h"

namespace dist = tessera::dist;
using tessera::Tensor;

namespace {

constexpr double kTemperature = 0.8;
constexpr std::int64_t kBytes = 256;

/// Writes one token after the other.
class Writer {
 public:
  explicit Writer(const Run& run)
      : run_(run), bytes_(!holds_tokens(run.options.data)), tokens_(prompt_tokens(run.options)) {
    std::puts("");
    for (const std::int64_t token : tokens_) {
      print(token);
    }
  }
  ~Writer() { std::puts(""); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write_next() {
    const auto all = std::span<const std::int64_t>(tokens_);
    const auto length = std::min(all.size(), static_cast<std::size_t>(run_.options.context));
    const Tensor ids =
        tessera::from_values(all.last(length), {1, static_cast<std::int64_t>(length)});
    Tensor logits = run_.model->next_logits(ids) * (1 / kTemperature);
    if (bytes_) {
      logits = tessera::slice(logits, 1, 0, kBytes);  // --vocab may have more
    }
    tokens_.push_back(tessera::multinomial(tessera::softmax(logits, -1), 1).item<std::int64_t>());
    print(tokens_.back());
  }

 private:
  void print(std::int64_t token) const {
    if (bytes_) {
      std::putchar(static_cast<int>(token));
    } else {
      std::printf("%lld ", static_cast<long long>(token));
    }
  }

  const Run& run_;
  bool bytes_;
  std::vector<std::int64_t> tokens_;
};

}  // namespace

void sample(const Run& run) {
  const tessera::InferenceGuard inference;
  dist::Communicator& comm = *run.world.communicator();
  run.model->eval();
  std::optional<tessera::BusyScope> busy;
  std::optional<Writer> writer;
  if (comm.rank() == 0) {
    busy.emplace("samples");  // a large model takes long for a token
    writer.emplace(run);
  }
  for (std::int64_t i = 0; i < run.options.sample && !stop_requested(comm); ++i) {
    if (writer) {
      writer->write_next();
    }
  }
}
