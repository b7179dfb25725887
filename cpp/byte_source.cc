#include "byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "crc32c.h"
#include "inflate_source.h"

namespace recordsmith {
namespace {

// One system call moves at most this much: Linux stops at 2 GiB, other systems fail there.
constexpr std::size_t kMaxCall = std::size_t{1} << 30;

template <typename Call>
int read_fully(Call call, void* to, std::size_t wanted, std::size_t* got) {
  *got = 0;
  while (*got < wanted) {
    const ssize_t count = call(static_cast<std::uint8_t*>(to) + *got, std::min(wanted - *got, kMaxCall), *got);
    if (count == 0) break;
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    *got += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

const char* compression_name(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZlib:
      return "zlib";
  }
  return "unknown";
}

Status File::open(const std::string& path, std::shared_ptr<File>* file) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = path;
  failure.detail = "open";
  if (descriptor < 0) {
    failure.system_error = errno;
    return Status(std::move(failure));
  }
  struct stat facts;
  if (fstat(descriptor, &facts) != 0 || S_ISDIR(facts.st_mode)) {
    failure.system_error = S_ISDIR(facts.st_mode) ? EISDIR : errno;
    ::close(descriptor);
    return Status(std::move(failure));
  }
  const bool seekable = S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode);
  file->reset(new File(path, descriptor, seekable));
  return Status::ok();
}

File::~File() { ::close(descriptor_); }

Status File::system_failure(const char* action, int error) const {
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = path_;
  failure.detail = action;
  failure.system_error = error;
  return Status(std::move(failure));
}

Status File::size(std::uint64_t* bytes) const {
  struct stat facts;
  if (fstat(descriptor_, &facts) != 0) return system_failure("stat", errno);
  *bytes = static_cast<std::uint64_t>(facts.st_size);
  return Status::ok();
}

Status File::read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const {
  const int error =
      read_fully([&](std::uint8_t* at, std::size_t count,
                     std::size_t done) { return pread(descriptor_, at, count, static_cast<off_t>(offset + done)); },
                 to, wanted, got);
  return error == 0 ? Status::ok() : system_failure("read", error);
}

Status File::read_next(void* to, std::size_t wanted, std::size_t* got) const {
  const int error =
      read_fully([&](std::uint8_t* at, std::size_t count, std::size_t) { return ::read(descriptor_, at, count); }, to,
                 wanted, got);
  return error == 0 ? Status::ok() : system_failure("read", error);
}

const MappedFile* File::mapped() const {
  std::call_once(mapping_, [this] {
    std::uint64_t bytes = 0;
    if (seekable_ && size(&bytes).is_ok()) {
      mapped_ = MappedFile::map(descriptor_, 0, bytes, MappedFile::Access::kRandom);
    }
  });
  return mapped_.get();
}

std::unique_ptr<MappedFile> File::map_window(std::uint64_t offset, std::uint64_t size) const {
  std::uint64_t bytes = 0;
  if (!seekable_ || !this->size(&bytes).is_ok() || offset >= bytes) return nullptr;
  return MappedFile::map(descriptor_, offset, std::min(size, bytes - offset), MappedFile::Access::kInOrder);
}

void File::announce(std::uint64_t offset, std::uint64_t size) const {
  posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

Status FileStream::read(std::uint8_t* to, std::size_t wanted, std::size_t* got) {
  Status status = file_->is_seekable() ? file_->read_at(offset_, to, wanted, got) : file_->read_next(to, wanted, got);
  offset_ += *got;
  if (!status.is_ok()) return status;
  if (*got > 0 || wanted == 0 || !file_->is_seekable()) return Status::ok();
  // Nothing more: the end, unless the file is now shorter than what was already read of it.
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->size(&size));
  if (size >= offset_) return Status::ok();
  Failure failure;
  failure.code = Code::kTruncated;
  failure.path = file_->path();
  failure.offset = offset_;
  failure.found = std::to_string(0);
  failure.expected = std::to_string(1);
  return Status(std::move(failure));
}

Status FileStream::remaining(std::uint64_t* bytes) const {
  if (!file_->is_seekable()) {
    *bytes = kUnknown;
    return Status::ok();
  }
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->size(&size));
  *bytes = size > offset_ ? size - offset_ : 0;
  return Status::ok();
}

Compression detect_compression(const std::uint8_t* head, std::size_t size) {
  if (size >= 12) {
    std::uint32_t stored;
    std::memcpy(&stored, head + 8, sizeof stored);
    if (masked_crc32c(head, 8) == stored) return Compression::kNone;
  }
  if (size >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8) return Compression::kGzip;
  // A zlib stream has no signature, only a checked pair of bytes that one file in 500 has by chance: try to inflate.
  if (size >= 2 && (head[0] & 0x0f) == 8 && (head[0] >> 4) <= 7 && ((head[0] << 8) | head[1]) % 31 == 0 &&
      inflates(head, size, Compression::kZlib)) {
    return Compression::kZlib;
  }
  return Compression::kNone;
}

Status detect_compression(const File& file, Compression* compression) {
  *compression = Compression::kNone;
  if (!file.is_seekable()) return Status::ok();
  std::array<std::uint8_t, 512> head;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file.read_at(0, head.data(), head.size(), &got));
  *compression = detect_compression(head.data(), got);
  return Status::ok();
}

Status open_input(const InputFile& input, std::shared_ptr<const File>* file, Compression* compression) {
  std::shared_ptr<File> opened;
  RECORDSMITH_RETURN_IF_ERROR(File::open(input.path, &opened));
  if (input.compression.has_value()) {
    *compression = *input.compression;
  } else {
    RECORDSMITH_RETURN_IF_ERROR(detect_compression(*opened, compression));
  }
  *file = std::move(opened);
  return Status::ok();
}

}  // namespace recordsmith
