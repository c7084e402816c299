#include <tessera/nn/io/hdf5_attributes.h>

namespace tessera::nn {
namespace {

constexpr const char* kAttributeOp = "hdf5 attribute";

Hdf5Handle text_type() {
  Hdf5Handle type = hdf5_own(H5Tcopy(H5T_C_S1), kAttributeOp, "cannot make a text");
  hdf5_check(H5Tset_size(type, H5T_VARIABLE), kAttributeOp, "cannot make a text");
  hdf5_check(H5Tset_cset(type, H5T_CSET_UTF8), kAttributeOp, "cannot make a text");
  return type;
}

Hdf5Handle list_space(std::size_t size) {
  const hsize_t count = size;
  return hdf5_own(H5Screate_simple(1, &count, nullptr), kAttributeOp, "cannot make a list");
}

Hdf5Handle one_value() {
  return hdf5_own(H5Screate(H5S_SCALAR), kAttributeOp, "cannot make a value");
}

void write(hid_t owner, const std::string& name, hid_t file_type, hid_t memory_type, hid_t space,
           const void* data) {
  const Hdf5Handle attribute =
      hdf5_own(H5Acreate2(owner, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT),
               kAttributeOp, "cannot create '" + name + "'");
  if (data != nullptr) {
    hdf5_check(H5Awrite(attribute, memory_type, data), kAttributeOp, "cannot write '" + name + "'");
  }
}

/// Writes one overload for each alternative of AttributeValue.
struct Writer {
  hid_t owner;
  const std::string& name;

  void operator()(std::int64_t value) const {
    write(owner, name, H5T_STD_I64LE, H5T_NATIVE_INT64, one_value(), &value);
  }
  void operator()(double value) const {
    write(owner, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, one_value(), &value);
  }
  void operator()(const std::string& value) const {
    const char* text = value.c_str();
    const Hdf5Handle type = text_type();
    write(owner, name, type, type, one_value(), &text);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    write(owner, name, H5T_STD_I64LE, H5T_NATIVE_INT64, list_space(values.size()), values.data());
  }
  void operator()(const std::vector<double>& values) const {
    write(owner, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, list_space(values.size()), values.data());
  }
  void operator()(const std::vector<std::string>& values) const {
    std::vector<const char*> texts;
    for (const std::string& value : values) {
      texts.push_back(value.c_str());
    }
    const Hdf5Handle type = text_type();
    write(owner, name, type, type, list_space(texts.size()),
          texts.empty() ? nullptr : texts.data());
  }
};

std::vector<std::string> read_variable_texts(hid_t attribute, hid_t space, std::size_t count) {
  const Hdf5Handle type = text_type();
  hdf5_check(H5Tset_cset(type, H5Tget_cset(Hdf5Handle(H5Aget_type(attribute)))), kAttributeOp,
             "bad text");
  std::vector<char*> texts(count);
  hdf5_check(H5Aread(attribute, type, texts.data()), kAttributeOp, "cannot read a text");
  std::vector<std::string> values;
  for (const char* text : texts) {
    values.emplace_back(text != nullptr ? text : "");
  }
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  return values;
}

std::vector<std::string> read_fixed_texts(hid_t attribute, hid_t type, std::size_t count) {
  const std::size_t size = H5Tget_size(type);
  std::string bytes(count * size, '\0');
  hdf5_check(H5Aread(attribute, type, bytes.data()), kAttributeOp, "cannot read a text");
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.emplace_back(bytes.substr(i * size, size).c_str());  // ends at the first zero
  }
  return values;
}

template <class T>
std::vector<T> read_numbers(hid_t attribute, hid_t memory_type, std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) {
    hdf5_check(H5Aread(attribute, memory_type, values.data()), kAttributeOp, "cannot read numbers");
  }
  return values;
}

template <class T>
AttributeValue one_or_list(std::vector<T> values, bool one) {
  return one ? AttributeValue(std::move(values.at(0))) : AttributeValue(std::move(values));
}

/// The value, or false if its type is none of AttributeValue's.
bool read_value(hid_t attribute, AttributeValue& value) {
  const Hdf5Handle type = hdf5_own(H5Aget_type(attribute), kAttributeOp, "cannot read a type");
  const Hdf5Handle space = hdf5_own(H5Aget_space(attribute), kAttributeOp, "cannot read a shape");
  const auto points = H5Sget_simple_extent_npoints(space);
  if (points < 0 || static_cast<hsize_t>(points) > H5Aget_storage_size(attribute)) {
    return false;  // each of its elements has at least a byte in the file
  }
  const auto count = static_cast<std::size_t>(points);
  const bool one = H5Sget_simple_extent_type(space) == H5S_SCALAR;
  if (count == 0 && H5Tget_class(type) == H5T_STRING) {
    value = std::vector<std::string>();  // HDF5 refuses to read no texts
    return true;
  }
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      value = one_or_list(read_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count), one);
      return true;
    case H5T_FLOAT:
      value = one_or_list(read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count), one);
      return true;
    case H5T_STRING:
      value =
          one_or_list(H5Tis_variable_str(type) > 0 ? read_variable_texts(attribute, space, count)
                                                   : read_fixed_texts(attribute, type, count),
                      one);
      return true;
    default:
      return false;
  }
}

std::string name_of(hid_t attribute) {
  const auto size =
      hdf5_check(H5Aget_name(attribute, 0, nullptr), kAttributeOp, "cannot read a name");
  std::string name(static_cast<std::size_t>(size), '\0');
  H5Aget_name(attribute, name.size() + 1, name.data());
  return name;
}

}  // namespace

void write_hdf5_attribute(hid_t owner, const std::string& name, const AttributeValue& value) {
  std::visit(Writer{owner, name}, value);
}

void write_hdf5_checksum(hid_t owner, std::uint64_t hash) {
  if (H5Aexists(owner, kChecksumAttribute) <= 0) {
    write(owner, kChecksumAttribute, H5T_STD_U64LE, H5T_NATIVE_UINT64, one_value(), &hash);
    return;
  }
  const Hdf5Handle attribute = hdf5_own(H5Aopen(owner, kChecksumAttribute, H5P_DEFAULT),
                                        kAttributeOp, "cannot open a checksum");
  hdf5_check(H5Awrite(attribute, H5T_NATIVE_UINT64, &hash), kAttributeOp,
             "cannot write a checksum");
}

bool has_hdf5_attribute(hid_t owner, const std::string& name, const std::string& text) {
  if (H5Aexists(owner, name.c_str()) <= 0) {
    return false;
  }
  AttributeValue value;
  const Hdf5Handle attribute(H5Aopen(owner, name.c_str(), H5P_DEFAULT));
  return attribute >= 0 && read_value(attribute, value) && value == AttributeValue(text);
}

void read_hdf5_attributes(hid_t owner, const std::string& path, std::vector<ArrayAttribute>& all) {
  H5O_info_t info;
  hdf5_check(H5Oget_info2(owner, &info, H5O_INFO_NUM_ATTRS), kAttributeOp, "cannot count them");
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Hdf5Handle attribute = hdf5_own(
        H5Aopen_by_idx(owner, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
        kAttributeOp, "cannot open one");
    ArrayAttribute result{path, name_of(attribute), {}};
    const bool shown = result.name != kChecksumAttribute && result.name != kDTypeAttribute;
    if (shown && read_value(attribute, result.value)) {
      all.push_back(std::move(result));
    }
  }
}

}  // namespace tessera::nn
