#include <tessera/nn/io/value_bytes.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

// A value is a letter that says its kind, then what the kind needs; lists, maps, texts and shapes
// begin with their length.
constexpr std::array<char, 8> kMagic{'v', 'a', 'l', 'u', 'e', ' ', '1', '\n'};
constexpr int kDeepest = 200;

enum Kind : char {
  kNothing = 'n',
  kBool = '?',
  kInteger = 'i',
  kNumber = 'd',
  kText = 's',
  kBytes = 'b',
  kTensor = 't',
  kList = 'l',
  kMap = 'm'
};

class ValueWriter {
 public:
  std::vector<std::byte> bytes;

  void raw(const void* data, std::size_t size) {
    bytes.resize(bytes.size() + size);
    std::copy_n(static_cast<const std::byte*>(data), size,
                bytes.end() - static_cast<std::ptrdiff_t>(size));
  }
  template <class T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    raw(value.data(), value.size());
  }
  void tensor(const Tensor& value);
  void value(const Value& value, int depth);
  void container(const Value& value, int depth);

 private:
  /// The value at `step` below the one that is being written.
  void part(const std::string& step, const Value& value, int depth) {
    const std::size_t before = place_.size();
    place_ += step;
    this->value(value, depth);
    place_.resize(before);
  }
  [[nodiscard]] std::string op() const {
    return place_.empty() ? "to_bytes" : "to_bytes: \"" + place_ + '"';
  }

  std::string place_;  ///< of the value that is being written, for errors: "seen.counts[3]"
};

void ValueWriter::tensor(const Tensor& value) {
  if (value.device().type == DeviceType::meta) {
    fail<NotImplementedError>(op(), ": tensor has no data (meta); use to_empty()");
  }
  const Tensor dense = contiguous(to_host(value));
  text(to_string(dense.dtype()));
  number<std::uint64_t>(dense.shape().size());
  for (const std::int64_t size : dense.shape()) {
    number(size);
  }
  raw(dense.raw_data(), dense.nbytes());
}

void ValueWriter::container(const Value& value, int depth) {
  check<Unsupported>(depth < kDeepest, "to_bytes: values lie more than ", kDeepest, " deep");
  if (value.is<Value::List>()) {
    const auto& items = value.get<Value::List>();
    number(kList);
    number<std::uint64_t>(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      part(tessera::detail::concat('[', i, ']'), items[i], depth + 1);
    }
    return;
  }
  if (!value.is<Value::Map>()) {
    fail<Unsupported>(op(), ": ", value.kind(), " cannot be written");
  }
  number(kMap);
  number<std::uint64_t>(value.get<Value::Map>().size());
  for (const auto& [name, item] : value.get<Value::Map>()) {
    text(name);
    part(tessera::detail::concat(place_.empty() ? "" : ".", name), item, depth + 1);
  }
}

void ValueWriter::value(const Value& value, int depth) {
  if (value.empty()) {
    number(kNothing);
  } else if (value.is<bool>()) {
    number(kBool);
    number<char>(value.get<bool>() ? 1 : 0);
  } else if (value.is<std::int64_t>()) {
    number(kInteger);
    number(value.get<std::int64_t>());
  } else if (value.is<double>()) {
    number(kNumber);
    number(value.get<double>());
  } else if (value.is<std::string>()) {
    number(kText);
    text(value.get<std::string>());
  } else if (value.is<Value::Bytes>()) {
    const auto& held = value.get<Value::Bytes>();
    number(kBytes);
    text({reinterpret_cast<const char*>(held.data()), held.size()});
  } else if (value.is<Tensor>()) {
    number(kTensor);
    tensor(value.get<Tensor>());
  } else {
    container(value, depth);
  }
}

class ValueReader {
 public:
  ValueReader(std::span<const std::byte> bytes, const std::string& what)
      : bytes_(bytes), what_(what) {}

  Value whole();

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    check<IoError>(size <= bytes_.size(), what_, ": a value is cut off; got ", bytes_.size(),
                   " bytes more, expected ", size);
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// The number of things that take at least a byte each.
  std::uint64_t count() {
    const auto value = number<std::uint64_t>();
    check<IoError>(value <= bytes_.size(), what_, ": a value is cut off; got ", bytes_.size(),
                   " bytes more for ", value, " things");
    return value;
  }
  std::string text() {
    const auto held = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(held.data()), held.size()};
  }
  Tensor tensor();
  Value list(int depth);
  Value map(int depth);
  Value value(int depth);

  std::span<const std::byte> bytes_;
  const std::string& what_;
};

Tensor ValueReader::tensor() {
  const std::string name = text();
  const auto dims = number<std::uint64_t>();
  check<IoError>(dims <= kMaxDims, what_, ": a tensor has ", dims, " dims");
  std::uint64_t size = 0;
  DType dtype = DType::u8;
  try {
    dtype = parse_dtype(name);
    size = size_of(dtype);
  } catch (const InvalidArgument&) {
    fail<IoError>(what_, ": a tensor has an unknown dtype; got '", name, "'");
  }
  Shape shape;
  bool fits = true;
  for (std::uint64_t i = 0; i < dims; ++i) {
    shape.push_back(number<std::int64_t>());
    fits = fits && shape.back() >= 0 && !__builtin_mul_overflow(size, shape.back(), &size);
  }
  check<IoError>(fits, what_, ": a tensor has an impossible shape; got ", shape);
  const auto held = take(size);
  Tensor value = empty(shape, {.dtype = dtype});
  std::ranges::copy(held, static_cast<std::byte*>(value.raw_data()));
  return value;
}

Value ValueReader::list(int depth) {
  Value::List items;
  for (std::uint64_t left = count(); left > 0; --left) {
    items.push_back(value(depth + 1));
  }
  return items;
}

Value ValueReader::map(int depth) {
  Value::Map items;
  for (std::uint64_t left = count(); left > 0; --left) {
    const std::string name = text();
    check<IoError>(!items.contains(name), what_, ": a map has '", name, "' twice");
    items.set(name, value(depth + 1));
  }
  return items;
}

Value ValueReader::value(int depth) {
  check<IoError>(depth <= kDeepest, what_, ": values lie more than ", kDeepest, " deep");
  switch (const char kind = number<char>()) {
    case kNothing:
      return {};
    case kBool:
      return number<char>() != 0;
    case kInteger:
      return number<std::int64_t>();
    case kNumber:
      return number<double>();
    case kText:
      return text();
    case kBytes: {
      const auto held = take(number<std::uint64_t>());
      return Value::Bytes(held.begin(), held.end());
    }
    case kTensor:
      return tensor();
    case kList:
      return list(depth);
    case kMap:
      return map(depth);
    default:
      fail<IoError>(what_, ": a value of unknown kind ", static_cast<int>(kind));
  }
}

Value ValueReader::whole() {
  const bool ours = bytes_.size() >= kMagic.size() &&
                    std::memcmp(take(kMagic.size()).data(), kMagic.data(), kMagic.size()) == 0;
  check<IoError>(ours, what_, ": the bytes are no value");
  Value result = value(0);
  check<IoError>(bytes_.empty(), what_, ": ", bytes_.size(), " bytes follow a value");
  return result;
}

}  // namespace

std::vector<std::byte> to_bytes(const Value& value) {
  ValueWriter writer;
  writer.raw(kMagic.data(), kMagic.size());
  writer.value(value, 0);
  return std::move(writer.bytes);
}

Value value_from_bytes(std::span<const std::byte> bytes, const std::string& what) {
  return ValueReader(bytes, what).whole();
}

}  // namespace tessera::nn
