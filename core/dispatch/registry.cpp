#include <map>
#include <mutex>

#include <tessera/core/dispatch/op.h>

namespace tessera {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string_view, OpDef*> ops;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

namespace detail {

void register_op(OpDef& def) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  check<InternalError>(all.ops.emplace(def.info.name, &def).second, "register: two ops are named ",
                       def.info.name);
}

}  // namespace detail

std::vector<const OpDef*> registered_ops() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<const OpDef*> ops;
  for (const auto& [name, def] : all.ops) {
    ops.push_back(def);
  }
  return ops;
}

const OpDef& find_op(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.ops.find(name);
  check<Unsupported>(found != all.ops.end(), "find_op: no op is named ", name);
  return *found->second;
}

}  // namespace tessera
