// Windows of a sequence of tokens, for training a language model.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/dataset.h>
#include <tessera/nn/data/token_sequence.h>

namespace tessera::data {

/// Ids as i64: (context,), or of a batch (samples, context). y is x one token later.
struct TokenBatch {
  Tensor x;
  Tensor y;

  void each_tensor(const auto& f) {
    f(x);
    f(y);
  }
};

struct TokenWindowsOptions {
  std::int64_t context = 1;  ///< tokens in a sample
  std::int64_t vocab = 0;    ///< tokens must be below it; 0: not checked
};

/// Sample i is tokens [i context, (i + 1) context], of which neighbours share one.
class TokenWindows final : public Dataset<TokenBatch> {
 public:
  /// Throws InvalidArgument when there are fewer than context + 1 tokens, or one is outside the
  /// vocabulary.
  explicit TokenWindows(TokenSequence tokens, const TokenWindowsOptions& options = {});

  [[nodiscard]] std::int64_t size() const override;
  [[nodiscard]] TokenBatch get(std::int64_t index) const override;
  [[nodiscard]] TokenBatch get_batch(std::span<const std::int64_t> indices) const;
  /// Reads all tokens, the first time.
  [[nodiscard]] DatasetFacts facts() const override;

  [[nodiscard]] std::int64_t context() const { return options_.context; }
  [[nodiscard]] const TokenSequence& tokens() const { return tokens_; }

 private:
  TokenSequence tokens_;
  TokenWindowsOptions options_;
  struct Hash {
    std::once_flag once;
    std::uint64_t value = 0;
  };
  std::shared_ptr<Hash> hash_ = std::make_shared<Hash>();  ///< also of copies
};

}  // namespace tessera::data
