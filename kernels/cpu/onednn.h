// What bindings to oneDNN (2.x or 3.x) share: its primitives run on the calling thread alone.
#pragma once

#include <string>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include <tessera/core/tensor/dtype.h>

namespace tessera::cpu::onednn {

// oneDNN's own threads split sums. OpenMP can be told, for one thread, to use no others; a oneDNN
// built on TBB or SYCL cannot.
inline constexpr bool kOneThreadIsPossible =
    DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP || DNNL_CPU_RUNTIME == DNNL_RUNTIME_SEQ;

/// While it lives, OpenMP regions that this thread begins have one thread. Primitives are made and
/// executed under it.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// What is made for `key`, once a thread, so that nothing is locked; all of a thread's is made anew
/// once there is very much of it. oneDNN shares the code of equal primitives.
template <class Made, class Hash, class Key>
[[nodiscard]] Made& made_for(const Key& key) {
  thread_local std::unordered_map<Key, Made, Hash> all;
  constexpr std::size_t kMost = 512;
  const auto found = all.find(key);
  if (found != all.end()) {
    return found->second;
  }
  if (all.size() >= kMost) {
    all.clear();
  }
  return all.emplace(key, Made(key)).first->second;
}

[[nodiscard]] const dnnl::engine& cpu_engine();
/// The stream of the calling thread.
[[nodiscard]] dnnl::stream& cpu_stream();

/// Whether oneDNN computes in this dtype on this CPU with the active instruction set.
[[nodiscard]] bool supports(DType compute);

/// What oneDNN calls f32 and bf16.
[[nodiscard]] dnnl::memory::data_type type_of(DType dtype);

/// Name and version, such as "oneDNN 2.6.3".
[[nodiscard]] std::string version();

}  // namespace tessera::cpu::onednn
