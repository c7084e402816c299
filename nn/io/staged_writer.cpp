#include <tessera/nn/io/staged_writer.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tessera/core/base/hash.h>

namespace tessera::nn {
namespace {

constexpr std::size_t kStageBytes = 4 * kHashedRangeBytes;

}  // namespace

StagedWriter::StagedWriter(File& file, std::uint64_t offset) : file_(file), offset_(offset) {
  for (StagingBuffer& stage : stages_) {
    free_.push_back(&stage);
  }
  thread_ = std::thread([this] { run(); });
}

StagedWriter::~StagedWriter() {
  stop();
}

void StagedWriter::append(std::span<const std::byte> bytes, std::vector<HashedRange>& ranges) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), kHashedRangeBytes));
    const std::size_t padded =
        (piece.size() + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
    const std::span<std::byte> room = room_for(padded);
    std::memcpy(room.data(), piece.data(), piece.size());
    std::memset(room.data() + piece.size(), 0, padded - piece.size());
    ranges.push_back({padded, hash_bytes(room)});
    bytes = bytes.subspan(piece.size());
  }
}

std::span<std::byte> StagedWriter::room_for(std::size_t size) {
  if (current_ != nullptr && current_->size + size > kStageBytes) {
    submit();
  }
  if (current_ == nullptr) {
    current_ = next_free();
    current_->size = 0;
    current_->offset = offset_;
  }
  const std::span<std::byte> room =
      current_->buffer.resized(kStageBytes).subspan(current_->size, size);
  current_->size += size;
  offset_ += size;
  return room;
}

void StagedWriter::submit() {
  const std::lock_guard lock(mutex_);
  full_.push_back(std::exchange(current_, nullptr));
  changed_.notify_all();
}

StagedWriter::StagingBuffer* StagedWriter::next_free() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || !free_.empty(); });
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
  StagingBuffer* stage = free_.front();
  free_.pop_front();
  return stage;
}

void StagedWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !full_.empty(); });
    if (full_.empty() || error_ != nullptr) {
      return;
    }
    StagingBuffer* stage = full_.front();
    full_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      file_.write_at(stage->buffer.resized(kStageBytes).first(stage->size), stage->offset);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    free_.push_back(stage);
    changed_.notify_all();
  }
}

void StagedWriter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void StagedWriter::finish() {
  if (current_ != nullptr) {
    submit();
  }
  stop();
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

}  // namespace tessera::nn
