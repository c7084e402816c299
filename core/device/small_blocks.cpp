#include <tessera/core/device/small_blocks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

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

enum class State : std::uint8_t { fresh, open, closed };

struct Front {
  std::array<List, SizeClass::kCount> lists;
  State state = State::fresh;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local Front front;

struct CloseAtThreadExit {
  ~CloseAtThreadExit() {
    front.state = State::closed;
    for (std::size_t i = 0; i < SizeClass::kCount; ++i) {
      shared_lists().take_back(front.lists[i], i, front.lists[i].count);
    }
  }
};

void open_front() {
  thread_local const CloseAtThreadExit close;
  front.state = State::open;
}

[[gnu::noinline]] void refill_front(List& list, std::size_t size_class, Arena& arena) {
  if (front.state == State::fresh) {
    open_front();
  }
  shared_lists().refill(list, size_class, arena);
}

// Leaves the front with a batch; with nothing when its thread is ending.
[[gnu::noinline]] void drain_front(List& list, std::size_t size_class) {
  if (front.state == State::fresh) {
    open_front();
  }
  const std::size_t keep = front.state == State::closed ? 0 : batch_of(size_class);
  if (list.count > keep) {
    shared_lists().take_back(list, size_class, list.count - keep);
  }
}

}  // namespace

std::byte* take_small(std::size_t nbytes, Arena& arena) {
  const std::size_t size_class = SizeClass::of(nbytes);
  List& list = front.lists[size_class];
  if (list.head == nullptr) [[unlikely]] {
    refill_front(list, size_class, arena);
  }
  auto* const data = reinterpret_cast<std::byte*>(list.pop());
  if (front.state == State::closed) [[unlikely]] {
    drain_front(list, size_class);
  }
  return data;
}

void give_small(std::byte* data, std::size_t nbytes) noexcept {
  const std::size_t size_class = SizeClass::of(nbytes);
  List& list = front.lists[size_class];
  list.push(reinterpret_cast<Node*>(data));
  if (list.count > 2 * batch_of(size_class) || front.state != State::open) [[unlikely]] {
    drain_front(list, size_class);
  }
}

}  // namespace tessera
