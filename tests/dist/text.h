// What tests train language models with.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tessera/nn/data/token_sequence.h>

namespace tessera::dist {

inline constexpr std::int64_t kVocab = 32;

/// `count` tokens below `vocab`.
inline data::TokenSequence text(int count = 400, std::int64_t vocab = kVocab) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i * i / 3 % vocab));
  }
  return data::TokenSequence(std::move(bytes));
}

}  // namespace tessera::dist
