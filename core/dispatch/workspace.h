// Memory that a kernel needs beside its outputs.
#pragma once

#include <cstddef>

#include <tessera/core/device/storage.h>
#include <tessera/core/dispatch/kernel.h>

namespace tessera {

/// Memory on the device of a kernel's outputs, which the kernel has as its workspace while this
/// lives. It is freed in the order of the stream, as that of any tensor.
class Workspace {
 public:
  Workspace(Kernel& k, std::size_t nbytes) {
    if (nbytes > 0) {
      memory_ = make_ref<Storage>(nbytes, k.output().device, MemoryCategory::workspace);
      k.set_workspace(memory_->data());
    }
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

 private:
  Ref<Storage> memory_;
};

}  // namespace tessera
