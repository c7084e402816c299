#include <tessera/dist/checkpoint/checkpoint.h>

#include <algorithm>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/dist/checkpoint/step_folders.h>

namespace tessera::dist {
namespace {

constexpr const char* kIndex = "index.h5";
constexpr const char* kFormatAttribute = "checkpoint_format";
constexpr const char* kStepAttribute = "step";

std::string listed(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) {
    text += (text.empty() ? "" : ", ") + std::to_string(step);
  }
  return text.empty() ? "none" : text;
}

std::string index_of(const std::string& directory, std::int64_t step) {
  const std::vector<std::int64_t> steps = list_steps(directory);
  check<IoError>(std::ranges::binary_search(steps, step), "load: '", directory, "' holds no step ",
                 step, "; it holds ", listed(steps));
  return join_path(step_folder(directory, step), kIndex);
}

void check_format(nn::ArrayFileReader& reader, const std::string& path) {
  const auto attributes = reader.attributes();
  const auto* format = nn::find_attribute<std::int64_t>(attributes, "", kFormatAttribute);
  check<IoError>(format != nullptr, "load: '", path, "' is no checkpoint: it has no attribute '",
                 kFormatAttribute, "'");
  check<IoError>(*format <= kCheckpointFormat, "load: '", path,
                 "' was written by a newer Tessera; got checkpoint format ", *format,
                 ", expected at most ", kCheckpointFormat);
}

}  // namespace

void save_checkpoint(const std::string& directory, std::int64_t step,
                     nn::ArrayFileContents contents) {
  contents.attributes.push_back({"", kFormatAttribute, kCheckpointFormat});
  contents.attributes.push_back({"", kStepAttribute, step});
  write_step_folder(directory, step, [&](const std::string& folder) {
    nn::write_array_file(join_path(folder, kIndex), contents);
  });
}

std::unique_ptr<nn::ArrayFileReader> open_checkpoint(const std::string& directory,
                                                     std::int64_t step) {
  const std::string path = index_of(directory, step);
  auto reader = nn::open_array_file(path, nn::Checksums::required);
  check_format(*reader, path);
  return reader;
}

void verify_checkpoint(const std::string& directory, std::int64_t step) {
  (void)open_checkpoint(directory, step);
}

std::optional<std::int64_t> newest_whole_step(const std::string& directory, std::int64_t before) {
  const std::vector<std::int64_t> steps = list_steps(directory);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      if (*step < before) {
        verify_checkpoint(directory, *step);
        return *step;
      }
    } catch (const IoError&) {  // not this one
    }
  }
  return {};
}

}  // namespace tessera::dist
