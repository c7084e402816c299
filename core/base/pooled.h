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
    if (list.head != nullptr) [[likely]] {
      void* block = list.head;
      list.head = list.head->next;
      --list.length;
      return block;
    }
    return ::operator new(size);
  }
  static void operator delete(void* block) noexcept {
    FreeList& list = free_list();
    if (list.length >= kMaxLength) {
      ::operator delete(block);
      return;
    }
    list.head = ::new (block) Link{list.head};
    ++list.length;
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
    std::size_t length = 0;
    ~FreeList() {
      while (head != nullptr) {
        Link* next = head->next;
        ::operator delete(head);
        head = next;
      }
      length = kMaxLength;  // objects that outlive the thread's lists go straight to the heap
    }
  };
  static FreeList& free_list() {
    thread_local FreeList list;
    return list;
  }
};

}  // namespace tessera
