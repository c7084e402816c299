// Puts HDF5 in place as the format of files of arrays.
#include <tessera/core/base/file.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/file_checksum.h>
#include <tessera/nn/io/hdf5_reader.h>
#include <tessera/nn/io/hdf5_writer.h>

namespace tessera::nn {
namespace {

[[noreturn]] void fail_damaged(const std::string& path, std::unique_ptr<File> file,
                               const ChecksumTable& table, const std::vector<ByteRange>& damage) {
  const ByteRange& first = damage.front();
  const bool readable = first.begin != table.block_size && damage.back().end != file->size();
  check<IoError>(readable, "load: '", path,
                 "' is damaged: its table of names does not match its checksum");
  const std::string names = Hdf5Reader(path, std::move(file)).arrays_in(first.begin, first.end);
  fail<IoError>("load: '", path, "' is damaged: bytes ", first.begin, " to ", first.end,
                " do not match their checksum; they hold ", names.empty() ? "no array" : names);
}

std::unique_ptr<File> open_checked(const std::string& path, Checksums checksums) {
  auto file = file_system().open(path, {.direct = true});
  const ChecksumTable table = read_checksum_block(*file, path);
  check<IoError>(table.block_size != 0 || checksums == Checksums::if_present, "load: '", path,
                 "' is damaged or was not written by Tessera: it has no checksums");
  const std::vector<ByteRange> damage = find_damage(*file, path, table);
  if (!damage.empty()) {
    fail_damaged(path, std::move(file), table, damage);
  }
  return file;
}

class Hdf5Format final : public ArrayFileFormat {
 public:
  void write(const std::string& path, const ArrayFileContents& contents) override {
    write_hdf5_file(path, contents);
  }
  std::unique_ptr<ArrayFileReader> open(const std::string& path, Checksums checksums) override {
    return std::make_unique<Hdf5Reader>(path, open_checked(path, checksums));
  }
  void verify(const std::string& path) override { open_checked(path, Checksums::required); }
};

const ArrayFileFormatRegistration kRegistration(std::make_unique<Hdf5Format>());

}  // namespace
}  // namespace tessera::nn
