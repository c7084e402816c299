// Free lists for the small objects that every op creates: tensors, storages, tape nodes.
#pragma once

#include <cstddef>
#include <new>

namespace tessera {

/// Gives `T` an operator new and delete that keep freed objects on a thread-local list. An object
/// may be freed on another thread than the one that made it; it then joins that thread's list.
template <class T>
class Pooled {
 public:
  static void* operator new(std::size_t size) {
    FreeList& list = free_list();
    if (list.head == nullptr) [[unlikely]] {
      return ::operator new(size);
    }
    void* block = list.head;
    list.head = list.head->next;
    ++list.room;
    return block;
  }
  static void operator delete(void* block) noexcept {
    FreeList& list = free_list();
    if (list.room == 0) [[unlikely]] {
      open(list);
      if (list.room == 0) {
        ::operator delete(block);
        return;
      }
    }
    list.head = ::new (block) Link{list.head};
    --list.room;
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t kMaxLength = 0;  // let the sanitizer see every free
#else
  static constexpr std::size_t kMaxLength = 4096;
#endif
  struct Link {
    Link* next;
  };
  struct FreeList {
    Link* head = nullptr;
    std::size_t room = 0;  ///< objects it still takes: none before its first and after its thread
  };
  struct Opened {
    explicit Opened(FreeList& list) : list_(list) { list.room = kMaxLength; }
    ~Opened() {
      while (list_.head != nullptr) {
        Link* next = list_.head->next;
        ::operator delete(list_.head);
        list_.head = next;
      }
      list_.room = 0;  // objects that outlive the thread's lists go straight to the heap
    }
    FreeList& list_;
  };
  // No constructor, no destructor and a fixed place: this is reached several times an op.
  static FreeList& free_list() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local FreeList list;
    return list;
  }
  /// Once a thread, and with the end of the thread in view.
  [[gnu::noinline, gnu::cold]] static void open(FreeList& list) {
    thread_local const Opened opened(list);
  }
};

}  // namespace tessera
