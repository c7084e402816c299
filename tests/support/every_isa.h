// Running a test under every instruction set.
#pragma once

#include <tessera/kernels/cpu/isa.h>

namespace tessera::test {

/// Runs `body(isa)` under every instruction set of this CPU, then restores the active one.
template <class Body>
void on_every_isa(Body&& body) {
  const cpu::Isa before = cpu::active_isa();
  for (const cpu::Isa isa : cpu::supported_isas()) {
    cpu::set_active_isa(isa);
    body(isa);
  }
  cpu::set_active_isa(before);
}

}  // namespace tessera::test
