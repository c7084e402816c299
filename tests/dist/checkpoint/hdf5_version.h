// A small checkpoint whose every number is its version, so that a mixture shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/dist/checkpoint/checkpoint.h>

namespace tessera::dist {

/// Saves step `step` as version `version`: three arrays, the largest of `numel` elements.
inline void save_version(const std::string& directory, std::int64_t step, std::int64_t version,
                         std::int64_t numel = 2000) {
  const std::vector<std::int64_t> values(static_cast<std::size_t>(numel), version);
  nn::ArrayFileContents contents;
  contents.arrays = {{"model/a.weight", DType::i64, {numel}, values.data()},
                     {"optimizer/exp_avg/a.weight", DType::i64, {numel / 2}, values.data()},
                     {"optimizer/exp_avg_sq/a.weight", DType::i64, {}, values.data()}};
  contents.arrays.push_back(nn::alias_of("model/a.weight", "model/b.weight"));
  contents.attributes = {{"", "version", version}};
  save_checkpoint(directory, step, contents);
}

/// The version of a step, or nothing if its parts disagree. Throws what open_checkpoint throws.
inline std::optional<std::int64_t> version_of(const std::string& directory, std::int64_t step) {
  const auto reader = open_checkpoint(directory, step);
  const auto attributes = reader->attributes();
  const std::int64_t version = *nn::find_attribute<std::int64_t>(attributes, "", "version");
  for (const nn::ArrayInfo& info : reader->arrays()) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(numel_of(info.shape)));
    reader->read(info.path, std::as_writable_bytes(std::span(values)));
    if (values != std::vector<std::int64_t>(values.size(), version)) {
      return {};
    }
  }
  return reader->arrays().size() == 4 ? std::optional(version) : std::nullopt;
}

}  // namespace tessera::dist
