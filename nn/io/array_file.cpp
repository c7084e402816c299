#include <tessera/nn/io/array_file.h>

#include <algorithm>

#include <tessera/core/base/error.h>

namespace tessera::nn {
namespace {

std::unique_ptr<ArrayFileFormat>& slot() {
  static std::unique_ptr<ArrayFileFormat> format;
  return format;
}

ArrayFileFormat& format_for(const char* op, const std::string& path) {
  check<Unsupported>(slot() != nullptr, op, ": '", path,
                     "' is an HDF5 file, and this library was built without HDF5; install "
                     "libhdf5-dev and configure with -DTESSERA_WITH_HDF5=ON");
  return *slot();
}

}  // namespace

ArrayFileFormatRegistration::ArrayFileFormatRegistration(std::unique_ptr<ArrayFileFormat> format) {
  slot() = std::move(format);
}

const ArrayInfo* ArrayFileReader::find(const std::string& path) const {
  const auto found = std::ranges::find(arrays(), path, &ArrayInfo::path);
  return found == arrays().end() ? nullptr : &*found;
}

const ArrayInfo& ArrayFileReader::readable(const std::string& file, const std::string& path,
                                           std::size_t size) const {
  const ArrayInfo* info = find(path);
  check(info != nullptr, "load: '", file, "' has no array '", path, "'");
  check<IoError>(info->refusal.empty(), info->refusal);
  check(info->nbytes() == size, "load: '", file, "': '", path, "' has another size; got ", size,
        " bytes, expected ", info->nbytes());
  return *info;
}

void write_array_file(const std::string& path, const ArrayFileContents& contents) {
  format_for("save", path).write(path, contents);
}

std::unique_ptr<ArrayFileReader> open_array_file(const std::string& path, Checksums checksums) {
  return format_for("load", path).open(path, checksums);
}

void verify_array_file(const std::string& path) {
  format_for("verify", path).verify(path);
}

}  // namespace tessera::nn
