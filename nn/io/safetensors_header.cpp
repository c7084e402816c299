#include <tessera/nn/io/safetensors_header.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>

namespace tessera::nn {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 11> kWords{{{DType::boolean, "BOOL"},
                                                                     {DType::u8, "U8"},
                                                                     {DType::i8, "I8"},
                                                                     {DType::i16, "I16"},
                                                                     {DType::i32, "I32"},
                                                                     {DType::i64, "I64"},
                                                                     {DType::f16, "F16"},
                                                                     {DType::bf16, "BF16"},
                                                                     {DType::f32, "F32"},
                                                                     {DType::f64, "F64"},
                                                                     {DType::c64, "C64"}}};

struct Entry {
  ArrayInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class HeaderParser {
 public:
  /// Nothing is kept unless `keep`.
  HeaderParser(JsonCursor::Source text, const std::string& path, bool keep)
      : what_("load: '" + path + "'"), json_(std::move(text), what_), keep_(keep) {}

  SafetensorsHeader parse(std::uint64_t data_size);
  void scan(std::uint64_t data_size);

 private:
  void read_all();
  void metadata();
  void array(const std::string& name);
  void field(const std::string& member, Entry& entry);
  void dtype(ArrayInfo& info);
  void shape(ArrayInfo& info);
  void offsets(const std::string& name, Entry& entry);
  void check_size(const Entry& entry) const;
  void check_cover(std::uint64_t data_size) const;
  [[nodiscard]] std::string about(const std::string& name) const {
    return what_ + ": '" + name + "'";
  }

  std::string what_;
  JsonCursor json_;
  bool keep_;
  std::uint64_t borders_ = 0;  ///< the sum over all arrays of hash(end) - hash(begin)
  std::vector<Entry> entries_;
  std::vector<ArrayAttribute> metadata_;
};

void HeaderParser::read_all() {
  std::set<std::string> names;
  json_.object([&](const std::string& name) {
    check<IoError>(!keep_ || names.insert(name).second, about(name), " is there twice");
    if (name == "__metadata__") {
      metadata();
    } else {
      array(name);
    }
  });
  json_.end();
}

/// Arrays lie one after another from 0 to `data_size` when every border but those two is the end of
/// one and the beginning of another, as often as it is there.
void HeaderParser::scan(std::uint64_t data_size) {
  read_all();
  check<IoError>(borders_ == mix(data_size, 0) - mix(0, 0), what_,
                 ": the arrays of its header overlap, or leave gaps in its ", data_size,
                 " bytes of data");
}

SafetensorsHeader HeaderParser::parse(std::uint64_t data_size) {
  read_all();
  std::ranges::stable_sort(entries_, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  check_cover(data_size);
  SafetensorsHeader header;
  for (Entry& entry : entries_) {
    header.arrays.push_back(std::move(entry.info));
    header.offsets.push_back(entry.begin);
  }
  header.metadata = std::move(metadata_);
  return header;
}

void HeaderParser::metadata() {
  std::set<std::string> names;
  json_.object([&](const std::string& name) {
    check<IoError>(!keep_ || names.insert(name).second, about("__metadata__"), " holds '", name,
                   "' twice");
    const std::string text = json_.beginning_of_string();
    if (keep_) {
      metadata_.push_back({"", name, text});
    }
  });
}

void HeaderParser::array(const std::string& name) {
  Entry entry;
  entry.info.path = name;
  std::set<std::string> seen;
  json_.object([&](const std::string& member) {
    check<IoError>(seen.insert(member).second, about(name), " has '", member, "' twice");
    field(member, entry);
  });
  check<IoError>(seen.size() == 3, about(name), " lacks dtype, shape or data_offsets");
  if (entry.info.refusal.empty()) {
    check_size(entry);
  }
  borders_ += mix(entry.end, 0) - mix(entry.begin, 0);
  if (keep_) {
    entries_.push_back(std::move(entry));
  }
}

void HeaderParser::field(const std::string& member, Entry& entry) {
  const std::string& name = entry.info.path;
  if (member == "dtype") {
    dtype(entry.info);
  } else if (member == "shape") {
    shape(entry.info);
  } else if (member == "data_offsets") {
    offsets(name, entry);
  } else {
    fail<IoError>(about(name), " has an unknown member '", member,
                  "'; expected dtype, shape and data_offsets");
  }
}

/// A dtype or a number of dims that no tensor here has spoils that array alone: nothing else in the
/// file is read by it.
void HeaderParser::dtype(ArrayInfo& info) {
  const std::string word = json_.string();
  const auto found = std::ranges::find(kWords, word, &std::pair<DType, std::string_view>::second);
  if (found != kWords.end()) {
    info.dtype = found->first;
    return;
  }
  info.refusal = about(info.path) + " has a dtype that no tensor has; got '" + word +
                 "', expected BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64 or C64";
}

void HeaderParser::shape(ArrayInfo& info) {
  json_.list([&] {
    const std::int64_t size = json_.count();
    if (info.shape.size() < kMaxDims) {
      info.shape.push_back(size);
    } else {
      info.refusal =
          tessera::detail::concat(about(info.path), " has more than ", kMaxDims, " dims");
    }
  });
}

void HeaderParser::offsets(const std::string& name, Entry& entry) {
  std::vector<std::uint64_t> pair;
  json_.list([&] {
    const auto value = static_cast<std::uint64_t>(json_.count());
    if (pair.size() < 3) {
      pair.push_back(value);
    }
  });
  check<IoError>(pair.size() == 2 && pair[0] <= pair[1], about(name),
                 " has bad data_offsets; expected two, the first not above the second");
  entry.begin = pair[0];
  entry.end = pair[1];
}

void HeaderParser::check_size(const Entry& entry) const {
  std::int64_t bytes = static_cast<std::int64_t>(size_of(entry.info.dtype));
  bool fits = true;
  for (const std::int64_t size : entry.info.shape) {
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  }
  check<IoError>(fits && static_cast<std::uint64_t>(bytes) == entry.end - entry.begin,
                 about(entry.info.path), " has data_offsets that do not fit its shape; got ",
                 entry.end - entry.begin, " bytes for ", entry.info.dtype, " ", entry.info.shape);
}

void HeaderParser::check_cover(std::uint64_t data_size) const {
  std::uint64_t at = 0;
  for (const Entry& entry : entries_) {
    check<IoError>(entry.begin == at, about(entry.info.path), " begins at byte ", entry.begin,
                   " of the data; expected ", at, ", where the array before it ends");
    check<IoError>(entry.end <= data_size, about(entry.info.path), " ends at byte ", entry.end,
                   " of the data; the file has ", data_size);
    at = entry.end;
  }
  check<IoError>(at == data_size, what_, " has ", data_size, " bytes of data; its header names ",
                 at);
}

}  // namespace

std::optional<std::string_view> safetensors_dtype(DType dtype) {
  const auto found = std::ranges::find(kWords, dtype, &std::pair<DType, std::string_view>::first);
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

SafetensorsHeader parse_safetensors_header(JsonCursor::Source text, std::uint64_t data_size,
                                           const std::string& path) {
  return HeaderParser(std::move(text), path, true).parse(data_size);
}

void scan_safetensors_header(JsonCursor::Source text, std::uint64_t data_size,
                             const std::string& path) {
  HeaderParser(std::move(text), path, false).scan(data_size);
}

}  // namespace tessera::nn
