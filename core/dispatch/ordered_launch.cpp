#include <tessera/core/dispatch/ordered_launch.h>

#include <utility>
#include <vector>

#include <tessera/core/device/hazards.h>
#include <tessera/core/dispatch/kernel_job.h>
#include <tessera/core/dispatch/run_kernel.h>

namespace tessera {
namespace {

template <class Read, class Write>
void for_each_storage(const Kernel& kernel, const Read& read, const Write& write) {
  for (int i = 0; i < kernel.input_count(); ++i) {
    if (kernel.has_input(i) && kernel.input(i).storage) {
      read(*kernel.input(i).storage);
    }
  }
  for (int i = 0; i < kernel.output_count(); ++i) {
    write(*kernel.output(i).storage);
  }
}

/// The point behind the kernel; reached where the device has no streams.
Ticket launch_on(const StreamId& stream, const OpDef& op, Kernel& kernel, const void* attrs) {
  if (stream.device.is_cpu()) {
    run_kernel(op, kernel, attrs);
    return {};
  }
  const DeviceBackend& backend = backend_of(stream.device.type);
  if (backend.launch != nullptr) {
    return backend.launch(stream, std::make_unique<KernelJob>(op, kernel, attrs));
  }
  kernel.set_stream(stream);
  run_kernel(op, kernel, attrs);
  return backend.mark == nullptr ? Ticket{} : backend.mark(stream);
}

}  // namespace

void launch_ordered(const OpDef& op, Kernel& kernel, const void* attrs) {
  const Device device = kernel.output().device;
  if (!has_elements(kernel)) {
    return;
  }
  require_kernel(op, device);
  const StreamId stream = current_stream(device);
  std::vector<Ticket> before;
  const auto add = [&](Storage& storage, bool writes) {
    const std::vector<Ticket> tickets = tickets_before(storage, writes);
    before.insert(before.end(), tickets.begin(), tickets.end());
  };
  for_each_storage(
      kernel, [&](Storage& storage) { add(storage, false); },
      [&](Storage& storage) { add(storage, true); });
  wait_for(stream, std::move(before));
  const Ticket done = launch_on(stream, op, kernel, attrs);
  for_each_storage(
      kernel,
      [&](Storage& storage) {
        after_read(storage, storage.device() == device ? done : Ticket{});  // numbers went by value
      },
      [&](Storage& storage) { after_write(storage, done); });
}

}  // namespace tessera
