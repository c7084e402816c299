// Tokens in memory: what a data loader cuts windows from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace tessera::data {

/// A run of tokens of one or two bytes each, shared by copies.
class TokenSequence {
 public:
  TokenSequence() = default;
  /// Takes the tokens over.
  explicit TokenSequence(std::vector<std::uint8_t> bytes);
  explicit TokenSequence(std::vector<std::uint16_t> tokens);
  /// Tokens that belong to `owner` (a mapped file), which is kept alive.
  TokenSequence(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner);
  TokenSequence(std::span<const std::uint16_t> tokens, std::shared_ptr<const void> owner);

  /// Number of tokens.
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t operator[](std::int64_t position) const;
  /// Writes the tokens [first, first + destination.size()) as 64-bit ids.
  void copy(std::int64_t first, std::span<std::int64_t> destination) const;
  /// A hash of all tokens and their width: equal on every machine for equal data.
  [[nodiscard]] std::uint64_t hash() const;
  /// Throws InvalidArgument naming the first token that is not below `vocab`, its position, and the
  /// smallest vocabulary that would do.
  void check_vocab(std::int64_t vocab) const;

 private:
  std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>> tokens_;
  std::shared_ptr<const void> owner_;
};

}  // namespace tessera::data
