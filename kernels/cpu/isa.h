// The instruction sets that kernels are compiled for, and the choice between them at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tessera/core/base/error.h>

namespace tessera::cpu {

/// Instruction sets in ascending order: a CPU that has one has all before it.
enum class Isa : std::uint8_t { baseline, avx2, avx512, avx512_bf16, amx_bf16 };

inline constexpr int kIsaCount = 5;

[[nodiscard]] std::string_view to_string(Isa) noexcept;

/// The best instruction set of this CPU among those compiled in.
[[nodiscard]] Isa best_isa() noexcept;
/// All that this CPU can run, ascending.
[[nodiscard]] std::vector<Isa> supported_isas();

/// The one that kernels use: `best_isa()`, or what TESSERA_ISA names.
[[nodiscard]] Isa active_isa();
/// Changes it, for ranks that agree on a common one and for tests. No kernel may be running.
/// Throws Unsupported when this CPU lacks it.
void set_active_isa(Isa);

/// One table of function pointers per instruction set; files compiled for one add theirs.
template <class Table>
class IsaTable {
 public:
  static bool add(Isa isa, const Table* table) {
    tables_[static_cast<std::size_t>(isa)] = table;
    return true;
  }
  /// The table of the active instruction set, or of the next lower one that has a table.
  static const Table& get() {
    for (int i = static_cast<int>(active_isa()); i >= 0; --i) {
      if (const Table* table = tables_[static_cast<std::size_t>(i)]) {
        return *table;
      }
    }
    fail<InternalError>("cpu kernels: no table compiled in for instruction set ",
                        to_string(active_isa()));
  }

 private:
  static inline constinit std::array<const Table*, kIsaCount> tables_{};
};

}  // namespace tessera::cpu
