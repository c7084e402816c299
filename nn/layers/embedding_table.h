// What the two embedding layers share: a table of which one row may be padding.
#pragma once

#include <optional>
#include <string>

#include <tessera/nn/slot.h>

namespace tessera::nn {

/// (count, width). Throws ValueError naming `layer` unless both are positive.
[[nodiscard]] Shape table_shape(const char* layer, std::int64_t count, std::int64_t width);
/// The padding's row counted from the beginning. Throws ValueError for one outside the table.
[[nodiscard]] std::optional<std::int64_t> normalize_padding(const char* layer,
                                                            std::optional<std::int64_t> row,
                                                            std::int64_t count);
/// Standard normal, and 0 in the row `padding`.
[[nodiscard]] Initializer table_init(std::optional<std::int64_t> padding);

/// What layers print: "4, 3" and ", padding_idx=1".
[[nodiscard]] std::string table_text(const Shape& table);
[[nodiscard]] std::string padding_text(std::optional<std::int64_t> padding);

}  // namespace tessera::nn
