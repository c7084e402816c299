#include <tessera/nn/data/token_windows.h>

#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/rows.h>

namespace tessera::data {
namespace {

void check_length(std::int64_t tokens, std::int64_t context) {
  check(context >= 1, "data: the context is empty; got ", context, ", expected at least 1");
  check(tokens > context, "data: too short; got ", tokens,
        " tokens, expected more than the context of ", context,
        tokens >= 2 ? ", or a context of at most " + std::to_string(tokens - 1) : "");
}

}  // namespace

TokenWindows::TokenWindows(TokenSequence tokens, const TokenWindowsOptions& options)
    : tokens_(std::move(tokens)), options_(options) {
  check_length(tokens_.size(), options_.context);
  if (options_.vocab > 0) {
    tokens_.check_vocab(options_.vocab);
  }
}

std::int64_t TokenWindows::size() const {
  return (tokens_.size() - 1) / options_.context;
}

TokenBatch TokenWindows::get(std::int64_t index) const {
  check_index("token windows", index, size());
  const TokenBatch batch = get_batch({&index, 1});
  return {.x = row_of(batch.x, 0), .y = row_of(batch.y, 0)};
}

TokenBatch TokenWindows::get_batch(std::span<const std::int64_t> indices) const {
  const std::int64_t context = options_.context;
  const auto windows = [&](std::int64_t shift) {
    Tensor ids = empty({static_cast<std::int64_t>(indices.size()), context}, {.dtype = DType::i64});
    auto* row = ids.data<std::int64_t>();
    for (const std::int64_t index : indices) {
      tokens_.copy(index * context + shift, {row, static_cast<std::size_t>(context)});
      row += context;
    }
    return ids;
  };
  return {.x = windows(0), .y = windows(1)};
}

DatasetFacts TokenWindows::facts() const {
  std::call_once(hash_->once, [this] { hash_->value = tokens_.hash(); });
  return {{"context", static_cast<std::uint64_t>(options_.context)},
          {"length", static_cast<std::uint64_t>(tokens_.size())},
          {"hash", hash_->value}};
}

}  // namespace tessera::data
