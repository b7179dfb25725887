#include "records/record_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib-ng.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/checksums/crc32c.h"
#include "base/thread_team.h"
#include "files/gzip_member.h"
#include "records/framing/framing.h"

namespace recordsmith {

struct RecordSink::Deflater {
  zng_stream stream{};
  Buffer output{kBufferBytes};
  bool ready = false;
  ~Deflater() {
    if (ready) zng_deflateEnd(&stream);
  }
};

// What waits to be compressed.
struct RecordSink::Members {
  struct Waiting {
    Buffer bytes;
    std::size_t size;
    std::uint64_t records;
  };
  int level = 0;
  std::size_t threads = 1;
  std::uint64_t records = 0;  // in all members so far
  bool any = false;
  std::vector<Waiting> waiting;
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
                          std::unique_ptr<RecordSink>* sink, std::size_t threads) {
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
  if (compression == Compression::kGzip) {
    (*sink)->members_ = std::make_unique<Members>();
    (*sink)->members_->level = level;
    (*sink)->members_->threads = std::max<std::size_t>(1, threads);
    return Status::ok();
  }
  (*sink)->deflater_ = std::make_unique<Deflater>();
  Deflater& deflater = *(*sink)->deflater_;
  deflater.ready = zng_deflateInit2(&deflater.stream, level, Z_DEFLATED, 15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
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
  if (observer_ && size > 0) {
    Status status = observer_({data, size});
    if (!status.is_ok()) {
      failed_with_ = ECANCELED;
      return status;
    }
  }
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

Status RecordSink::end_member() {
  if (failed_with_ != 0) return system_failure("write", failed_with_);
  Buffer next(kMemberBytes + kMemberBytes / 2);  // before anything changes: there may be no memory for it
  members_->waiting.reserve(members_->waiting.size() + 1);
  const std::uint64_t records = records_ - std::exchange(members_->records, records_);
  members_->waiting.push_back({std::exchange(buffer_, std::move(next)), std::exchange(used_, 0), records});
  return members_->waiting.size() < members_->threads ? Status::ok() : write_members();
}

Status RecordSink::write_members() {
  if (failed_with_ != 0) return system_failure("write", failed_with_);
  failed_with_ = ENOMEM;  // if memory runs out below, these records are lost, and nothing may follow them
  std::vector<Members::Waiting> waiting = std::exchange(members_->waiting, {});
  std::vector<GzipMember> compressed(waiting.size());
  std::vector<Status> outcomes(waiting.size());
  std::atomic<std::size_t> next{0};
  run_on_threads(std::min(members_->threads, waiting.size()), [&] {
    for (std::size_t i; (i = next++) < waiting.size();) {
      const std::span<const std::uint8_t> data(waiting[i].bytes.data(), waiting[i].size);
      outcomes[i] = deflate_member(data, waiting[i].records, members_->level, &compressed[i]);
    }
  });
  for (Status& outcome : outcomes) RECORDSMITH_RETURN_IF_ERROR(std::move(outcome));
  failed_with_ = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    RECORDSMITH_RETURN_IF_ERROR(write_out(compressed[i].bytes.data(), compressed[i].size));
    members_->any = true;
  }
  return Status::ok();
}

void RecordSink::grow(std::size_t capacity) {
  Buffer larger(capacity);
  std::memcpy(larger.data(), buffer_.data(), used_);
  buffer_ = std::move(larger);
}

void RecordSink::expect(std::size_t bytes) {
  if (in_memory_ && used_ + bytes > buffer_.capacity()) grow(used_ + bytes);
}

Status RecordSink::make_room(std::size_t needed) {
  if (!is_open()) return Status::of(Code::kInvalidArgument, "the writer is closed");
  if (members_ && used_ >= kMemberBytes) RECORDSMITH_RETURN_IF_ERROR(end_member());
  if (used_ + needed <= buffer_.capacity()) return Status::ok();
  if (in_memory_ || members_) {
    grow(std::max(used_ + needed, in_memory_ ? 2 * buffer_.capacity() : 0));
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
  if (members_ && records > 1) {  // members end where they would if each record had come alone
    for (std::size_t at = 0; at < size;) {
      std::uint64_t length = 0;
      read_header(frames + at, &length);
      const std::size_t frame = static_cast<std::size_t>(length) + kFramingBytes;
      RECORDSMITH_RETURN_IF_ERROR(append_frames(frames + at, frame, sound));
      at += frame;
    }
    return Status::ok();
  }
  if (size >= kBufferBytes && !in_memory_ && !deflater_ && !members_ && is_open()) {  // a copy would be for nothing
    RECORDSMITH_RETURN_IF_ERROR(drain());
    RECORDSMITH_RETURN_IF_ERROR(write_out(frames, size));
  } else if (size > 0) {
    RECORDSMITH_RETURN_IF_ERROR(make_room(size));
    std::memcpy(buffer_.data() + used_, frames, size);
    used_ += size;
  }
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
  if (in_memory_ || members_) return Status::ok();  // a member ends where its records say
  return drain();
}

Status RecordSink::close(bool sync) {
  if (descriptor_ < 0) return Status::ok();
  if (members_) {
    if (used_ > 0 || (!members_->any && members_->waiting.empty())) RECORDSMITH_RETURN_IF_ERROR(end_member());
    RECORDSMITH_RETURN_IF_ERROR(write_members());
  }
  RECORDSMITH_RETURN_IF_ERROR(drain());
  if (deflater_) RECORDSMITH_RETURN_IF_ERROR(deflate_out(nullptr, 0, true));
  if (sync && fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) return system_failure("fsync", errno);
  const int descriptor = std::exchange(descriptor_, -1);
  lock_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (::close(descriptor) != 0 && errno != EINTR) return system_failure("close", errno);
  return Status::ok();
}

}  // namespace recordsmith
