#include <tessera/nn/data/token_sequence.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>

namespace tessera::data {
namespace {

/// Owns `tokens`, and shows where they lie.
template <class T>
std::pair<std::span<const T>, std::shared_ptr<const void>> share(std::vector<T> tokens) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(tokens));
  return {std::span<const T>(*owner), owner};
}

}  // namespace

TokenSequence::TokenSequence(std::vector<std::uint8_t> bytes) {
  std::tie(tokens_, owner_) = share(std::move(bytes));
}

TokenSequence::TokenSequence(std::vector<std::uint16_t> tokens) {
  std::tie(tokens_, owner_) = share(std::move(tokens));
}

TokenSequence::TokenSequence(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner)
    : tokens_(bytes), owner_(std::move(owner)) {}

TokenSequence::TokenSequence(std::span<const std::uint16_t> tokens,
                             std::shared_ptr<const void> owner)
    : tokens_(tokens), owner_(std::move(owner)) {}

std::int64_t TokenSequence::size() const {
  return std::visit([](auto tokens) { return static_cast<std::int64_t>(tokens.size()); }, tokens_);
}

std::int64_t TokenSequence::operator[](std::int64_t position) const {
  return std::visit(
      [&](auto tokens) { return std::int64_t{tokens[static_cast<std::size_t>(position)]}; },
      tokens_);
}

void TokenSequence::copy(std::int64_t first, std::span<std::int64_t> destination) const {
  std::visit(
      [&](auto tokens) {
        std::ranges::copy(tokens.subspan(static_cast<std::size_t>(first), destination.size()),
                          destination.begin());
      },
      tokens_);
}

std::uint64_t TokenSequence::hash() const {
  return std::visit(
      [](auto tokens) {
        const auto bytes = std::as_bytes(tokens);
        std::uint64_t hash = mix(sizeof(tokens[0]), bytes.size());
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
          std::uint64_t word = 0;
          std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
          hash = mix(hash, word);
        }
        return hash;
      },
      tokens_);
}

void TokenSequence::check_vocab(std::int64_t vocab) const {
  std::visit(
      [&](auto tokens) {
        const auto outside = [vocab](std::int64_t token) { return token >= vocab; };
        const auto found = std::ranges::find_if(tokens, outside);
        if (found != tokens.end()) {
          fail<InvalidArgument>("data: a token is outside the vocabulary; got token ", int{*found},
                                " at position ", found - tokens.begin(), ", expected tokens below ",
                                vocab, " or a vocabulary of at least ",
                                int{std::ranges::max(tokens)} + 1);
        }
      },
      tokens_);
}

}  // namespace tessera::data
