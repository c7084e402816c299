#include <tessera/nn/io/safetensors.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <set>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/json_cursor.h>
#include <tessera/nn/io/safetensors_header.h>

namespace tessera::nn {
namespace {

// Note [A header is read twice]. A stranger's header may claim anything. One that is longer than a
// piece is first scanned from front to back, which takes no memory, and parsed into a list of
// arrays only when it is known to be good and to fit the file. Lengths are checked before they are
// used: of the header against the file, of arrays against what follows the header.

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kReadBytes = 64 << 10;

class SafetensorsReader final : public ArrayFileReader {
 public:
  explicit SafetensorsReader(const std::string& path)
      : path_(path), file_(file_system().open(path, {})) {
    data_begin_ = kLengthBytes + header_length();
    const std::uint64_t data_size = file_->size() - data_begin_;
    if (data_begin_ > kReadBytes) {  // it takes memory only when it is known to be good
      scan_safetensors_header(header_pieces(), data_size, path);
    }
    header_ = parse_safetensors_header(header_pieces(), data_size, path);
  }

  const std::vector<ArrayInfo>& arrays() const override { return header_.arrays; }
  std::vector<ArrayAttribute> attributes() override { return header_.metadata; }

  void read(const std::string& path, std::span<std::byte> bytes) override {
    const ArrayInfo& info = readable(path_, path, bytes.size());
    const auto index = static_cast<std::size_t>(&info - header_.arrays.data());
    const std::size_t got = file_->read_at(bytes, data_begin_ + header_.offsets[index]);
    check<IoError>(got == bytes.size(), "load: '", path_, "' ends inside '", path, "'");
  }

 private:
  std::uint64_t header_length() {
    std::uint64_t length = 0;
    const auto length_bytes = std::as_writable_bytes(std::span(&length, 1));
    const std::uint64_t size = file_->size();
    check<IoError>(file_->read_at(length_bytes, 0) == kLengthBytes, "load: '", path_,
                   "' is no safetensors file: it has ", size, " bytes");
    check<IoError>(length <= kLongestSafetensorsHeader && length <= size - kLengthBytes, "load: '",
                   path_, "' is truncated or no safetensors file: its header would have ", length,
                   " bytes, and ", size - kLengthBytes, " follow");
    return length;
  }

  JsonCursor::Source header_pieces() {
    return [this, at = kLengthBytes, piece = std::string()]() mutable {
      piece.resize(std::min(kReadBytes, data_begin_ - at));
      piece.resize(file_->read_at(std::as_writable_bytes(std::span(piece)), at));
      at += piece.size();
      return std::string_view(piece);
    };
  }

  std::string path_;
  std::unique_ptr<File> file_;
  std::uint64_t data_begin_ = 0;
  SafetensorsHeader header_;
};

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string result;
  for (const std::string_view part : parts) {
    result += part;
  }
  return result;
}

std::string array_entry(const ArraySource& array, std::uint64_t begin, std::uint64_t end) {
  const auto word = safetensors_dtype(array.dtype);
  check<Unsupported>(word.has_value(), "save: safetensors cannot hold '", array.path, "' of dtype ",
                     array.dtype);
  std::string shape;
  for (const std::int64_t size : array.shape) {
    shape += concat({shape.empty() ? "" : ",", std::to_string(size)});
  }
  return concat({quote_json(array.path), ":{\"dtype\":\"", *word, "\",\"shape\":[", shape,
                 "],\"data_offsets\":[", std::to_string(begin), ",", std::to_string(end), "]}"});
}

std::string metadata_entry(const ArrayFileContents& contents) {
  std::string members;
  const auto add = [&](const std::string& name, const std::string& text) {
    members += concat({members.empty() ? "" : ",", quote_json(name), ":", quote_json(text)});
  };
  for (const ArrayAttribute& attribute : contents.attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    check<Unsupported>(text != nullptr && attribute.owner.empty(),
                       "save: safetensors holds texts "
                       "of the file only; got the attribute '",
                       attribute.name, "' of '", attribute.owner, "'");
    add(attribute.name, *text);
  }
  for (const ArraySource& array : contents.arrays) {
    if (!array.target.empty()) {
      add(array.path, array.target);
    }
  }
  return members.empty() ? members : concat({"\"__metadata__\":{", members, "}"});
}

std::string make_header(const ArrayFileContents& contents) {
  std::string text = metadata_entry(contents);
  std::set<std::string> names{"__metadata__"};
  std::uint64_t at = 0;
  for (const ArraySource& array : contents.arrays) {
    check(names.insert(array.path).second, "save: two arrays have the name '", array.path, "'");
    if (!array.target.empty()) {
      check(names.contains(array.target), "save: '", array.path, "' is a second name of '",
            array.target, "', which is not there");
      continue;
    }
    const std::uint64_t end = at + array.nbytes();
    text += concat({text.empty() ? "" : ",", array_entry(array, at, end)});
    at = end;
  }
  text = concat({"{", text, "}"});
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the arrays' bytes are aligned
  return text;
}

}  // namespace

std::unique_ptr<ArrayFileReader> open_safetensors(const std::string& path) {
  return std::make_unique<SafetensorsReader>(path);
}

void write_safetensors(const std::string& path, const ArrayFileContents& contents) {
  const std::string header = make_header(contents);
  const std::uint64_t length = header.size();
  const auto file = file_system().open(path, {.create = true});
  file->write_at(std::as_bytes(std::span(&length, 1)), 0);
  file->write_at(std::as_bytes(std::span(header)), kLengthBytes);
  std::uint64_t at = kLengthBytes + length;
  for (const ArraySource& array : contents.arrays) {
    file->write_at({static_cast<const std::byte*>(array.data), array.nbytes()}, at);
    at += array.nbytes();
  }
  file->sync();
}

}  // namespace tessera::nn
