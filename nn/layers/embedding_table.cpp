#include <tessera/nn/layers/embedding_table.h>

#include <algorithm>
#include <cstddef>

#include <tessera/nn/init/normal.h>

namespace tessera::nn {

Shape table_shape(const char* layer, std::int64_t count, std::int64_t width) {
  check<ValueError>(count >= 1 && width >= 1, layer, ": sizes must be positive; got ", count,
                    " rows of ", width);
  return {count, width};
}

std::optional<std::int64_t> normalize_padding(const char* layer, std::optional<std::int64_t> row,
                                              std::int64_t count) {
  if (!row) {
    return row;
  }
  check<ValueError>(*row >= -count && *row < count, layer, ": padding_idx out of range; got ", *row,
                    ", expected [", -count, ", ", count, ")");
  return *row < 0 ? *row + count : *row;
}

Initializer table_init(std::optional<std::int64_t> padding) {
  const Initializer normal = init::normal(0, 1);
  if (!padding) {
    return normal;
  }
  return [normal, row = *padding](const Tensor& table, const Box& box, const RandomStream& stream) {
    normal(table, box, stream);
    const std::int64_t here = row - box.offset[0];
    if (here >= 0 && here < box.shape[0]) {
      const std::size_t nbytes = table.nbytes() / static_cast<std::size_t>(box.shape[0]);
      std::fill_n(
          static_cast<std::byte*>(table.raw_data()) + static_cast<std::size_t>(here) * nbytes,
          nbytes, std::byte{0});
    }
  };
}

std::string table_text(const Shape& table) {
  return std::to_string(table[0]) + ", " + std::to_string(table[1]);
}

std::string padding_text(std::optional<std::int64_t> padding) {
  return padding ? ", padding_idx=" + std::to_string(*padding) : "";
}

}  // namespace tessera::nn
