#include <tessera/core/device/small_blocks.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace tessera {
namespace {

// A free block holds the link to the next one.
struct Node {
  Node* next;
};

struct List {
  Node* head = nullptr;
  std::size_t count = 0;

  void push(Node* node) {
    node->next = head;
    head = node;
    ++count;
  }
  Node* pop() {
    Node* const node = head;
    head = node->next;
    --count;
    return node;
  }
};

// What blocks are cut from: so many at once that little of a slab is left over.
constexpr std::size_t slab_of(std::size_t nbytes) {
  return std::max<std::size_t>(64 << 10, 8 * nbytes);
}

// Blocks that move between a thread and the shared lists at once; a thread keeps up to twice that.
constexpr std::size_t batch_of(std::size_t size_class) {
  return std::clamp<std::size_t>((16 << 10) / SizeClass::nbytes(size_class), 4, 64);
}

class SharedLists {
 public:
  // Moves up to a batch to `list`, at least one block.
  void refill(List& list, std::size_t size_class, Arena& arena) {
    const std::lock_guard lock(mutexes_[size_class]);
    List& shared = lists_[size_class];
    if (shared.head == nullptr) {
      cut_slab(shared, SizeClass::nbytes(size_class), arena);
    }
    for (std::size_t n = batch_of(size_class); n > 0 && shared.head != nullptr; --n) {
      list.push(shared.pop());
    }
  }
  // Moves `count` blocks from `list`.
  void take_back(List& list, std::size_t size_class, std::size_t count) {
    const std::lock_guard lock(mutexes_[size_class]);
    for (; count > 0; --count) {
      lists_[size_class].push(list.pop());
    }
  }

 private:
  static void cut_slab(List& shared, std::size_t nbytes, Arena& arena) {
    const std::size_t size = slab_of(nbytes);
    std::byte* const slab = arena.allocate(size)->data;
    for (std::size_t i = size / nbytes; i > 0; --i) {  // so that low addresses go out first
      shared.push(reinterpret_cast<Node*>(slab + (i - 1) * nbytes));
    }
  }

  std::array<std::mutex, SizeClass::kCount> mutexes_;
  std::array<List, SizeClass::kCount> lists_;
};

SharedLists& shared_lists() {
  static auto* const instance = new SharedLists;  // never destroyed: tensors may be static objects
  return *instance;
}

/// The lists of one thread.
struct Front {
  std::array<List, SizeClass::kCount> lists;
};

/// Null before the first block and while the thread ends. A pointer: a library that needs more
/// static TLS than a few hundred bytes cannot be loaded by a program that runs.
[[gnu::tls_model("initial-exec")]] constinit thread_local Front* front = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool closed = false;

struct CloseAtThreadExit {
  ~CloseAtThreadExit() {
    closed = true;
    const std::unique_ptr<Front> last(std::exchange(front, nullptr));
    for (std::size_t i = 0; last != nullptr && i < SizeClass::kCount; ++i) {
      shared_lists().take_back(last->lists[i], i, last->lists[i].count);
    }
  }
};

/// Null where the thread is ending, or has no memory for its lists.
Front* open_front() {
  if (front == nullptr && !closed) {
    thread_local const CloseAtThreadExit close;
    front = new (std::nothrow) Front;
  }
  return front;
}

[[gnu::noinline]] std::byte* take_shared(std::size_t size_class, Arena& arena) {
  Front* const own = open_front();
  List some;
  List& list = own == nullptr ? some : own->lists[size_class];
  if (list.head == nullptr) {
    shared_lists().refill(list, size_class, arena);
  }
  auto* const data = reinterpret_cast<std::byte*>(list.pop());
  shared_lists().take_back(some, size_class, some.count);
  return data;
}

[[gnu::noinline]] void give_shared(std::byte* data, std::size_t size_class) {
  List some;
  Front* const own = open_front();
  List& list = own == nullptr ? some : own->lists[size_class];
  list.push(reinterpret_cast<Node*>(data));
  shared_lists().take_back(some, size_class, some.count);
}

/// Leaves a batch.
[[gnu::noinline]] void drain(List& list, std::size_t size_class) {
  shared_lists().take_back(list, size_class, list.count - batch_of(size_class));
}

}  // namespace

std::byte* take_small(std::size_t nbytes, Arena& arena) {
  const std::size_t size_class = SizeClass::of(nbytes);
  Front* const own = front;
  if (own == nullptr || own->lists[size_class].head == nullptr) [[unlikely]] {
    return take_shared(size_class, arena);
  }
  return reinterpret_cast<std::byte*>(own->lists[size_class].pop());
}

void give_small(std::byte* data, std::size_t nbytes) noexcept {
  const std::size_t size_class = SizeClass::of(nbytes);
  Front* const own = front;
  if (own == nullptr) [[unlikely]] {
    give_shared(data, size_class);
    return;
  }
  List& list = own->lists[size_class];
  list.push(reinterpret_cast<Node*>(data));
  if (list.count > 2 * batch_of(size_class)) [[unlikely]] {
    drain(list, size_class);
  }
}

}  // namespace tessera
