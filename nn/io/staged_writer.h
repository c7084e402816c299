// Writes a long run of bytes by large direct transfers while the next ones are copied and hashed.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <tessera/core/base/file.h>
#include <tessera/nn/io/aligned_buffer.h>
#include <tessera/nn/io/file_checksum.h>

namespace tessera::nn {

/// Appends to a file from an aligned offset on; a thread of its own does the writing, so that copy
/// and hash cost no time of their own. Errors of that thread come out of the next call.
class StagedWriter {
 public:
  /// `file` must outlive the writer; `offset` is a multiple of `kDirectAlignment`.
  StagedWriter(File& file, std::uint64_t offset);
  /// Stops; what was not finished may be missing.
  ~StagedWriter();
  StagedWriter(const StagedWriter&) = delete;
  StagedWriter& operator=(const StagedWriter&) = delete;

  /// Appends `bytes` and zeros up to the next multiple of `kDirectAlignment`, and adds to `ranges`
  /// what they hash to, in pieces of at most `kHashedRangeBytes`.
  void append(std::span<const std::byte> bytes, std::vector<HashedRange>& ranges);
  /// Returns when all is written. Nothing may be appended afterwards.
  void finish();

 private:
  struct StagingBuffer {
    AlignedBuffer buffer;
    std::size_t size = 0;
    std::uint64_t offset = 0;
  };

  std::span<std::byte> room_for(std::size_t size);
  void submit();
  StagingBuffer* next_free();
  void run();
  void stop();

  File& file_;
  std::uint64_t offset_;
  std::array<StagingBuffer, 3> stages_;
  StagingBuffer* current_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StagingBuffer*> free_;
  std::deque<StagingBuffer*> full_;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tessera::nn
