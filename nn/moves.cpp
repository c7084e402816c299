#include <tessera/nn/moves.h>

#include <tessera/core/base/log.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/device/shared_pages.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/state/overwrite.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

using Conversion = std::function<Tensor(const Tensor&)>;

/// A slot's new value, made beside the old one so that a failure changes nothing. Undefined for a
/// slot without a value, of which only the dtype is known.
struct Replacement {
  SlotPtr slot;
  Tensor value;
  DType dtype;
};

Tensor replace(const Slot& slot, const Conversion& convert) {
  const CategoryScope category(MemoryCategory::parameter);
  Tensor value = convert(slot.value.detach());
  if (value.shares_storage(slot.value) && value.dtype() == slot.value.dtype()) {
    return slot.value;
  }
  const Tensor gradient = slot.value.grad();
  if (gradient.defined() && is_differentiable(value.dtype())) {
    const CategoryScope of_gradient(MemoryCategory::gradient);
    value.set_grad(convert(gradient.detach()));
  }
  return value;
}

/// The dtype that a slot without a value will have.
DType dtype_after(const Slot& slot, const Conversion& convert) {
  return convert(zeros({}, {.dtype = slot.dtype})).dtype();
}

void check_has_values(const Module& root, const char* what) {
  for (const auto& [name, slot] : root.named_slots()) {
    check<RuntimeError>(slot->value.defined(), what, ": \"", name, "\" is uninitialised");
  }
}

void plan(const Module& module, Slot::Kind kind, const Conversion& convert,
          std::unordered_set<const Slot*>& seen, std::vector<Replacement>& plans) {
  for (const SlotEntryPtr& entry : slot_entries(module)) {
    const SlotPtr& slot = entry->slot;
    if (slot == nullptr || entry->kind != kind || !seen.insert(slot.get()).second) {
      continue;
    }
    if (!slot->value.defined()) {
      plans.push_back({slot, {}, dtype_after(*slot, convert)});
      continue;
    }
    check<RuntimeError>(slot->ownership == nullptr, module.class_name(), ": \"", entry->name,
                        "\" is kept equal on several ranks; cast and move a model before that");
    Tensor value = replace(*slot, convert);
    plans.push_back({slot, value, value.dtype()});
  }
}

/// What a copy with elements is made of.
const Tensor& with_elements(const Tensor& x) {
  check<NotImplementedError>(x.device().type != DeviceType::meta,
                             "tensor has no data (meta); use to_empty()");
  return x;
}

Tensor convert(const Tensor& x, Device device, DType dtype) {
  if (device.type == DeviceType::meta) {
    return empty(x.shape(), {.dtype = dtype, .device = device});
  }
  if (x.device() == device) {
    return cast(with_elements(x), dtype);
  }
  return on_device(x.dtype() == dtype ? with_elements(x) : cast(to_host(with_elements(x)), dtype),
                   device);
}

void check_cast(DType dtype) {
  check<TypeError>(is_differentiable(dtype), "to(): floating or complex dtype required, got ",
                   dtype);
  if (is_complex(dtype)) {
    log_once("module to complex", LogLevel::warning,
             "to(): modules of complex numbers are new; not every op takes them");
  }
}

Tensor lay_out(const Tensor& x, MemoryFormat format) {
  if (format == MemoryFormat::contiguous || x.ndim() < 4 || x.ndim() > 5) {
    return contiguous(x);
  }
  return x.ndim() == 4 ? permute(contiguous(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2})
                       : permute(contiguous(permute(x, {0, 2, 3, 4, 1})), {0, 4, 1, 2, 3});
}

}  // namespace

Module& for_each_slot_storage(Module& module, const Conversion& f, bool recurse) {
  const NoGradGuard no_grad;
  std::unordered_set<const Slot*> seen;
  std::vector<Replacement> plans;
  const auto visit = [&](Module& each) {
    plan(each, Slot::Kind::parameter, f, seen, plans);
    plan(each, Slot::Kind::buffer, f, seen, plans);
  };
  if (recurse) {
    apply(module, visit, true);
  } else {
    visit(module);
  }
  for (const Replacement& each : plans) {
    detail::settle_writes(each.slot->value);
  }
  for (const auto& [slot, value, dtype] : plans) {
    if (value.defined()) {
      slot->put(value);
    } else {
      slot->dtype = dtype;
      slot->own_dtype = true;
    }
  }
  return module;
}

Module& to(Module& module, std::optional<Device> device, std::optional<DType> dtype,
           bool (*converted)(DType)) {
  if (device) {
    check_available(*device);
  }
  if (dtype) {
    check_cast(*dtype);
  }
  for_each_slot_storage(module, [&](const Tensor& x) {
    return convert(x, device.value_or(x.device()),
                   converted(x.dtype()) ? dtype.value_or(x.dtype()) : x.dtype());
  });
  adopt_below(module, device, dtype);
  return module;
}

Module& to(Module& module, DeviceType type, std::optional<int> index) {
  return module.to(Device{type, static_cast<std::int8_t>(index.value_or(0))});
}

Module& to(Module& module, MemoryFormat format) {
  check_has_values(module, "to");
  return for_each_slot_storage(
      module, [format](const Tensor& x) { return lay_out(with_elements(x), format); });
}

Module& type(Module& module, DType dtype) {
  for (const Parameter& parameter : module.parameters()) {
    check<TypeError>(is_differentiable(dtype) || !parameter.requires_grad(), "type(): \"",
                     parameter.name(), "\" is trained and cannot be ", dtype);
  }
  return for_each_slot_storage(module,
                               [dtype](const Tensor& x) { return convert(x, x.device(), dtype); });
}

Module& to_empty(Module& module, Device device, bool recurse) {
  check_available(device);
  return for_each_slot_storage(
      module,
      [device](const Tensor& x) {
        return empty(x.shape(), {.dtype = x.dtype(), .device = device});
      },
      recurse);
}

Module& share_memory(Module& module) {
  check_has_values(module, "share_memory");
  return for_each_slot_storage(module, [](const Tensor& x) {
    const std::shared_ptr<void> pages = shared_pages(with_elements(x).nbytes());
    const Tensor shared = from_memory(pages.get(), x.shape(), x.dtype(), pages);
    shared.copy_(x);
    return shared;
  });
}

}  // namespace tessera::nn::detail
