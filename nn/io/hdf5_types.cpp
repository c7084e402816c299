#include <tessera/nn/io/hdf5_types.h>

#include <algorithm>
#include <array>

namespace tessera::nn {
namespace {

constexpr const char* kTypeOp = "hdf5 type";

Hdf5Handle copy_of(hid_t type) {
  return hdf5_own(H5Tcopy(type), kTypeOp, "cannot copy");
}

Hdf5Handle make_bool() {
  Hdf5Handle type = hdf5_own(H5Tenum_create(H5T_STD_I8LE), kTypeOp, "cannot make bool");
  for (const std::int8_t value : std::array<std::int8_t, 2>{0, 1}) {
    hdf5_check(H5Tenum_insert(type, value == 0 ? "FALSE" : "TRUE", &value), kTypeOp,
               "cannot make bool");
  }
  return type;
}

/// A sign bit, then the exponent, then the mantissa. The order of the calls matters.
Hdf5Handle make_half(std::size_t exponent_bits, std::size_t bias) {
  const std::size_t mantissa_bits = 15 - exponent_bits;
  Hdf5Handle type = copy_of(H5T_IEEE_F32LE);
  const bool made = H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits) >= 0 &&
                    H5Tset_precision(type, 16) >= 0 && H5Tset_size(type, 2) >= 0 &&
                    H5Tset_ebias(type, bias) >= 0;
  hdf5_check(made ? 0 : -1, kTypeOp, "cannot make a 16-bit float");
  return type;
}

/// The first names of a compound's or an enum's members; HDF5 gives each in memory of its own.
std::string members_of(hid_t type) {
  constexpr int kShown = 4;
  const int count = H5Tget_nmembers(type);
  std::string names;
  for (int i = 0; i < std::min(count, kShown); ++i) {
    char* name = H5Tget_member_name(type, static_cast<unsigned>(i));
    names += (names.empty() ? "" : ", ") + std::string(name == nullptr ? "?" : name);
    H5free_memory(name);
  }
  return names + (count > kShown ? ", ..." : "");
}

std::string element_of(hid_t type) {
  return describe_hdf5_type(hdf5_own(H5Tget_super(type), kTypeOp, "cannot read a type"));
}

Hdf5Handle make_complex(hid_t part) {
  const std::size_t size = H5Tget_size(part);
  Hdf5Handle type = hdf5_own(H5Tcreate(H5T_COMPOUND, 2 * size), kTypeOp, "cannot make complex");
  hdf5_check(H5Tinsert(type, "r", 0, part), kTypeOp, "cannot make complex");
  hdf5_check(H5Tinsert(type, "i", size, part), kTypeOp, "cannot make complex");
  return type;
}

}  // namespace

Hdf5Handle hdf5_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return make_bool();
    case DType::u8:
      return copy_of(H5T_STD_U8LE);
    case DType::i8:
      return copy_of(H5T_STD_I8LE);
    case DType::i16:
      return copy_of(H5T_STD_I16LE);
    case DType::i32:
      return copy_of(H5T_STD_I32LE);
    case DType::i64:
      return copy_of(H5T_STD_I64LE);
    case DType::f16:
      return make_half(5, 15);
    case DType::bf16:
      return copy_of(H5T_STD_U16LE);
    case DType::f32:
      return copy_of(H5T_IEEE_F32LE);
    case DType::f64:
      return copy_of(H5T_IEEE_F64LE);
    case DType::c64:
      return make_complex(H5T_IEEE_F32LE);
    case DType::c128:
      return make_complex(H5T_IEEE_F64LE);
  }
  fail<InternalError>("hdf5_type: unknown dtype");
}

Hdf5Handle native_hdf5_type(hid_t type) {
  Hdf5Handle native = copy_of(type);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER || kind == H5T_FLOAT) {
    hdf5_check(H5Tset_order(native, H5T_ORDER_LE), kTypeOp, "cannot set an order");
  }
  return native;
}

std::optional<Hdf5TypeMatch> match_hdf5_type(hid_t type) {
  const Hdf5Handle native = native_hdf5_type(type);
  const bool exact = H5Tequal(type, native) > 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (H5Tequal(native, hdf5_type(dtype)) > 0) {
      return Hdf5TypeMatch{dtype, exact};
    }
  }
  if (H5Tequal(native, make_half(8, 127)) > 0) {
    return Hdf5TypeMatch{DType::bf16, exact};
  }
  return {};
}

std::string describe_hdf5_type(hid_t type) {
  const std::string bits = std::to_string(H5Tget_precision(type));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return (H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int") + bits;
    case H5T_FLOAT:
      return "float" + bits;
    case H5T_BITFIELD:
      return "bitfield" + bits;
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compound of " + members_of(type);
    case H5T_ENUM:
      return "enum of " + members_of(type);
    case H5T_ARRAY:
      return "array of " + element_of(type);
    case H5T_VLEN:
      return "list of " + element_of(type);
    case H5T_REFERENCE:
      return "reference";
    case H5T_OPAQUE:
      return "opaque bytes";
    default:
      return "unknown type";
  }
}

}  // namespace tessera::nn
