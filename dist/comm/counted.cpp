#include <tessera/dist/comm/counted.h>

#include <utility>

namespace tessera::dist {

std::shared_ptr<const void> counted(std::shared_ptr<const void> owner, std::size_t nbytes,
                                    MemoryCategory category) {
  const auto count = static_cast<std::ptrdiff_t>(nbytes);
  count_memory(category, count);
  const void* memory = owner.get();
  return {memory, [owner = std::move(owner), category, count](const void*) {
            count_memory(category, -count);
          }};
}

}  // namespace tessera::dist
