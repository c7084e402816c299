#include <tessera/nn/io/outgoing_arrays.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/io/value_bytes.h>

namespace tessera::nn {
namespace {

std::vector<std::byte> bytes_of(const Value& value, const std::string& name) {
  try {
    return to_bytes(value);
  } catch (const NotImplementedError& error) {
    fail<NotImplementedError>("save: \"", name, "\": ", error.what());
  } catch (const Unsupported& error) {
    fail<Unsupported>("save: \"", name, "\": ", error.what());
  }
}

/// Where the elements lie, on whatever device; null for a tensor without any.
const void* first_byte(const Tensor& value) {
  const TensorImpl& x = value.get();
  return x.storage ? x.storage->data() + x.offset * static_cast<std::int64_t>(size_of(x.dtype))
                   : nullptr;
}

}  // namespace

void OutgoingArrays::add(const std::string& path, const Tensor& value) {
  check<NotImplementedError>(value.device().type != DeviceType::meta, "save: \"", path,
                             "\": tensor has no data (meta); use to_empty()");
  const Tensor& kept = tensors_.emplace_back(contiguous(to_host(value)));
  contents_.arrays.push_back({path, kept.dtype(), kept.shape(), kept.raw_data(), ""});
}

bool OutgoingArrays::add(const std::string& path, const Tensor& value, const Slot& slot,
                         bool transposed) {
  check<RuntimeError>(value.defined(), "save: \"", path, "\": ", why_without_value(slot));
  const auto first = std::ranges::find_if(written_, [&](const Written& written) {
    return written.slot == &slot && written.data == first_byte(value) &&
           written.transposed == transposed;
  });
  if (first != written_.end()) {
    contents_.arrays.push_back(alias_of(first->path, path));
    return false;
  }
  add(path, transposed ? transpose(value.detach()) : value);
  written_.push_back({&slot, first_byte(value), transposed, path});
  return true;
}

void OutgoingArrays::add_value(const std::string& path, const Value& value,
                               const std::string& name) {
  const auto& bytes = bytes_.emplace_back(bytes_of(value, name));
  contents_.arrays.push_back(
      {path, DType::u8, {static_cast<std::int64_t>(bytes.size())}, bytes.data(), ""});
}

}  // namespace tessera::nn
