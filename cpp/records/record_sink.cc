#include "records/record_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib-ng.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/crc32c.h"
#include "records/framing.h"

namespace recordsmith {

struct RecordSink::Deflater {
  zng_stream stream{};
  Buffer output{kBufferBytes};
  bool ready = false;
  ~Deflater() {
    if (ready) zng_deflateEnd(&stream);
  }
};

namespace {

// Locks a new file until it is closed, so that others can distinguish a running writer from a killed one. False if
// another process considered it abandoned before it was locked, and has removed it or will do so.
bool lock_new_file(const std::string& path, int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino;
}

}  // namespace

RecordSink::RecordSink(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), buffer_(kBufferBytes) {}

Status RecordSink::create(const std::string& path, Compression compression, int level,
                          std::unique_ptr<RecordSink>* sink) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0 && !lock_new_file(path, descriptor)) {
    ::close(descriptor);
    descriptor = -1;
    errno = EEXIST;
  }
  if (descriptor < 0) {
    Failure failure;
    failure.code = Code::kSystem;
    failure.path = path;
    failure.detail = "create";
    failure.system_error = errno;
    return Status(std::move(failure));
  }
  sink->reset(new RecordSink(path, descriptor));
  if (compression == Compression::kNone) return Status::ok();
  (*sink)->deflater_ = std::make_unique<Deflater>();
  Deflater& deflater = *(*sink)->deflater_;
  const int window_bits = compression == Compression::kGzip ? 15 + 16 : 15;
  deflater.ready = zng_deflateInit2(&deflater.stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  if (!deflater.ready) return Status::of(Code::kInvalidArgument, "zlib refused the compression level");
  return Status::ok();
}

std::unique_ptr<RecordSink> RecordSink::in_memory() {
  std::unique_ptr<RecordSink> sink(new RecordSink("", -1));
  sink->in_memory_ = true;
  return sink;
}

RecordSink::~RecordSink() {
  for (const int descriptor : {descriptor_, lock_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

Status RecordSink::system_failure(const char* action, int error) {
  failed_with_ = error;
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = path_;
  failure.detail = action;
  failure.system_error = error;
  return Status(std::move(failure));
}

Status RecordSink::write_out(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxCall = std::size_t{1} << 30;
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, data, std::min(size, kMaxCall));
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_failure("write", errno);
    }
    if (written == 0) return system_failure("write", ENOSPC);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return Status::ok();
}

Status RecordSink::deflate_out(const std::uint8_t* data, std::size_t size, bool finish) {
  zng_stream& stream = deflater_->stream;
  do {
    const std::size_t step = std::min(size, std::size_t{1} << 30);
    stream.next_in = data;
    stream.avail_in = static_cast<std::uint32_t>(step);
    const int mode = finish && step == size ? Z_FINISH : Z_NO_FLUSH;
    int result;
    do {
      stream.next_out = deflater_->output.data();
      stream.avail_out = static_cast<std::uint32_t>(kBufferBytes);
      result = zng_deflate(&stream, mode);
      RECORDSMITH_RETURN_IF_ERROR(write_out(deflater_->output.data(), kBufferBytes - stream.avail_out));
    } while (stream.avail_out == 0 || (mode == Z_FINISH && result == Z_OK));
    data += step;
    size -= step;
  } while (size > 0);
  return Status::ok();
}

Status RecordSink::drain() {
  if (failed_with_ != 0) return system_failure("write", failed_with_);
  if (used_ == 0) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(deflater_ ? deflate_out(buffer_.data(), used_, false) : write_out(buffer_.data(), used_));
  used_ = 0;
  return Status::ok();
}

Status RecordSink::make_room(std::size_t needed) {
  if (!is_open()) return Status::of(Code::kInvalidArgument, "the writer is closed");
  if (used_ + needed <= buffer_.capacity()) return Status::ok();
  if (in_memory_) {
    Buffer larger(std::max(used_ + needed, 2 * buffer_.capacity()));
    std::memcpy(larger.data(), buffer_.data(), used_);
    buffer_ = std::move(larger);
    return Status::ok();
  }
  RECORDSMITH_RETURN_IF_ERROR(drain());
  if (needed > buffer_.capacity()) buffer_ = Buffer(needed);
  return Status::ok();
}

Status RecordSink::claim(std::size_t size, std::uint8_t** payload) {
  RECORDSMITH_RETURN_IF_ERROR(make_room(size + kFramingBytes));
  *payload = buffer_.data() + used_ + kHeaderBytes;
  return Status::ok();
}

void RecordSink::commit(std::size_t size) {
  std::uint8_t* const header = buffer_.data() + used_;
  write_header(size, header);
  const std::uint32_t crc = masked_crc32c(header + kHeaderBytes, size);
  std::memcpy(header + kHeaderBytes + size, &crc, sizeof crc);
  used_ += size + kFramingBytes;
  bytes_ += size + kFramingBytes;
  ++records_;
}

Status RecordSink::append(const std::uint8_t* payload, std::size_t size) {
  std::uint8_t* room = nullptr;
  RECORDSMITH_RETURN_IF_ERROR(claim(size, &room));
  if (size > 0) std::memcpy(room, payload, size);
  commit(size);
  return Status::ok();
}

Status RecordSink::append_frames(const std::uint8_t* frames, std::size_t size, bool* sound) {
  std::uint64_t records = 0;
  *sound = false;
  for (std::size_t at = 0; at < size; ++records) {
    std::uint64_t length = 0;
    if (size - at < kFramingBytes || !read_header(frames + at, &length) || length > size - at - kFramingBytes) {
      return Status::ok();
    }
    at += static_cast<std::size_t>(length) + kFramingBytes;
  }
  *sound = true;
  if (size == 0) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(make_room(size));
  std::memcpy(buffer_.data() + used_, frames, size);
  used_ += size;
  bytes_ += size;
  records_ += records;
  return Status::ok();
}

Buffer RecordSink::take(std::vector<std::uint64_t>* offsets) {
  offsets->clear();
  offsets->reserve(static_cast<std::size_t>(records_) + 1);
  for (std::size_t at = 0; at < used_;) {
    offsets->push_back(at);
    std::uint64_t length = 0;
    read_header(buffer_.data() + at, &length);
    at += static_cast<std::size_t>(length) + kFramingBytes;
  }
  offsets->push_back(used_);
  Buffer next(kBufferBytes);  // before anything changes: there may be no memory for it
  used_ = 0;
  bytes_ = 0;
  records_ = 0;
  return std::exchange(buffer_, std::move(next));
}

Status RecordSink::flush() {
  if (!is_open()) return Status::of(Code::kInvalidArgument, "the writer is closed");
  if (in_memory_) return Status::ok();
  return drain();
}

Status RecordSink::close(bool sync) {
  if (descriptor_ < 0) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(drain());
  if (deflater_) RECORDSMITH_RETURN_IF_ERROR(deflate_out(nullptr, 0, true));
  if (sync && fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) return system_failure("fsync", errno);
  const int descriptor = std::exchange(descriptor_, -1);
  lock_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (::close(descriptor) != 0 && errno != EINTR) return system_failure("close", errno);
  return Status::ok();
}

}  // namespace recordsmith
