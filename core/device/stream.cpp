#include <tessera/core/device/stream.h>

#include <exception>

#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/polled_stream.h>

namespace tessera {

Stream::Stream(const Device& device, const std::string& name) : name_(name) {
  check_available(device);
  const bool opens = !device.is_cpu() && device.type != DeviceType::meta &&
                     backend_of(device.type).open != nullptr;
  check<Unsupported>(opens, "stream ", name, ": ", device,
                     " has no streams; expected a device whose work is done later");
  id_ = backend_of(device.type).open(device.index, name.c_str());
}

Stream::~Stream() {
  try {
    synchronize();
  } catch (const std::exception& error) {
    log_error("stream ", name_, ": ", error.what());
  }
  backend_of(id_.device.type).close(id_);
}

void Stream::synchronize() const {
  tessera::synchronize(backend_of(id_.device.type).mark(id_));
}

bool reached(const Ticket& ticket) {
  if (!ticket) {
    return true;
  }
  if (!ticket.stream.device.is_cpu()) {
    return backend_of(ticket.stream.device.type).reached(ticket);
  }
  const std::shared_ptr<PolledStream> stream = polled_stream(ticket.stream);
  return stream == nullptr || stream->reached(ticket.number);
}

void synchronize(const Ticket& ticket) {
  if (!ticket) {
    return;
  }
  if (!ticket.stream.device.is_cpu()) {
    backend_of(ticket.stream.device.type).synchronize(ticket);
  } else if (const auto stream = polled_stream(ticket.stream); stream != nullptr) {
    stream->synchronize(ticket.number);
  }
}

}  // namespace tessera
