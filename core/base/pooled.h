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
    empty_at_thread_end(list);
    return ::operator new(size);
  }
  static void operator delete(void* block) noexcept {
    FreeList& list = free_list();
    if (list.length >= kMaxLength) {
      ::operator delete(block);
      return;
    }
    if (list.head == nullptr) {
      empty_at_thread_end(list);
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
  };
  struct Cleanup {
    explicit Cleanup(FreeList& list) : list_(list) {}
    ~Cleanup() {
      while (list_.head != nullptr) {
        Link* next = list_.head->next;
        ::operator delete(list_.head);
        list_.head = next;
      }
      list_.length = kMaxLength;  // objects that outlive the thread's lists go straight to the heap
    }
    FreeList& list_;
  };
  // No constructor, no destructor and a fixed place: this is reached several times an op.
  static FreeList& free_list() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local FreeList list;
    return list;
  }
  static void empty_at_thread_end(FreeList& list) {
    thread_local const Cleanup cleanup(list);
  }
};

}  // namespace tessera
