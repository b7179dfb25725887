#include "files/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/checksums/crc32c.h"
#include "files/descriptor_budget.h"
#include "files/inflate_source.h"

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

int open_descriptor(const std::string& path) {
  for (bool is_first = true;; is_first = false) {
    int descriptor;
    do {
      descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor >= 0 || (errno != EMFILE && errno != ENFILE) || !is_first) return descriptor;
    descriptor_budget::release_all();
  }
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

Descriptor::~Descriptor() { ::close(number_); }

Status File::open(const std::string& path, std::shared_ptr<File>* to, const FileIdentity* known, bool lends) {
  if (RemoteFile::is_url(path)) return open_remote(path, to, known);
  std::shared_ptr<File> file(new File(path));
  const int descriptor = open_descriptor(path);
  if (descriptor < 0) return file->system_failure("open", errno);
  file->descriptor_ = std::make_shared<Descriptor>(descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) return file->system_failure("open", errno);
  if (S_ISDIR(status.st_mode)) return file->system_failure("open", EISDIR);
  file->seekable_ = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
  file->lends_ = lends && file->seekable_;
  if (file->seekable_) {
    const FileFacts now = facts_of(status);
    if (known != nullptr) {
      file->known_ = *known;
    } else {
      file->known_.facts = now;
      file->known_.noted = nanoseconds_now();
      const int error = sample_file(descriptor, now.size, &file->known_.sample);
      if (error != 0) return file->system_failure("read", error);
    }
    file->seen_ = file->known_.facts;
    file->is_settled_ = file->known_.is_settled();
    if (known != nullptr) RECORDSMITH_RETURN_IF_ERROR(file->compare(descriptor, now));
  }
  if (file->lends_) descriptor_budget::add(file.get());
  *to = std::move(file);
  return Status::ok();
}

Status File::open_remote(const std::string& url, std::shared_ptr<File>* to, const FileIdentity* known) {
  std::shared_ptr<File> file(new File(url));
  RECORDSMITH_RETURN_IF_ERROR(RemoteFile::open(url, &file->remote_));
  file->seekable_ = file->is_settled_ = true;
  file->seen_ = file->remote_->facts();
  file->known_ = {file->seen_, file->seen_.inode, nanoseconds_now()};
  if (known != nullptr && known->facts != file->seen_) return file->changed(known->facts, file->seen_);
  *to = std::move(file);
  return Status::ok();
}

File::~File() {
  if (lends_) descriptor_budget::remove(this);
}

Status File::system_failure(const char* action, int error) const {
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = path_;
  failure.detail = action;
  failure.system_error = error;
  return Status(std::move(failure));
}

Status File::changed(const FileFacts& before, const FileFacts& now) const {
  Failure failure;
  failure.code = Code::kChanged;
  failure.path = path_;
  failure.found = std::to_string(now.size);
  failure.expected = std::to_string(before.size);
  failure.detail = now.inode == before.inode ? "changed" : "replaced";
  return Status(std::move(failure));
}

Status File::compare(int descriptor, const FileFacts& now) const {
  if (now == seen_ && is_settled_) return Status::ok();
  if (!may_be_same(seen_, now)) return changed(seen_, now);
  FileIdentity again{now, 0, nanoseconds_now()};
  const int error = sample_file(descriptor, known_.facts.size, &again.sample);
  if (error != 0) return system_failure("read", error);
  if (again.sample != known_.sample) return changed(seen_, now);
  seen_ = now;
  is_settled_ = again.is_settled();
  return Status::ok();
}

Status File::open_again() const {
  const int descriptor = open_descriptor(path_);
  if (descriptor < 0) return system_failure("open", errno);
  Held opened = std::make_shared<Descriptor>(descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) return system_failure("stat", errno);
  RECORDSMITH_RETURN_IF_ERROR(compare(descriptor, facts_of(status)));
  descriptor_ = std::move(opened);
  return Status::ok();
}

Status File::acquire(Held* descriptor) const {
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = descriptor_ == nullptr;
    if (is_new) RECORDSMITH_RETURN_IF_ERROR(open_again());
    *descriptor = descriptor_;
  }
  is_used_.store(true, std::memory_order_relaxed);
  if (is_new) descriptor_budget::add(this);
  return Status::ok();
}

Status File::check_same(const FileFacts& before) const {
  const std::lock_guard lock(mutex_);
  return may_be_same(before, seen_) ? Status::ok() : changed(before, seen_);
}

void File::release() const {
  const std::lock_guard lock(mutex_);
  descriptor_.reset();
}

Status File::check_unchanged(std::uint64_t* size) const {
  if (size != nullptr) *size = kUnknown;
  if (!seekable_) return Status::ok();
  if (remote_ != nullptr) {
    if (size != nullptr) *size = seen_.size;
    return Status::ok();  // every request was for this version
  }
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = descriptor_ == nullptr;
    struct stat status;
    if (descriptor_ != nullptr) {
      if (fstat(descriptor_->number(), &status) != 0) return system_failure("stat", errno);
      RECORDSMITH_RETURN_IF_ERROR(compare(descriptor_->number(), facts_of(status)));
    } else if (stat(path_.c_str(), &status) != 0 ? errno != ENOENT || mapped_ == nullptr
                                                 : facts_of(status) != seen_ || !is_settled_) {
      RECORDSMITH_RETURN_IF_ERROR(open_again());  // a file that was deleted stays what it was in its mapping
    }
    is_new = is_new && descriptor_ != nullptr;
    if (size != nullptr) *size = seen_.size;
  }
  is_used_.store(true, std::memory_order_relaxed);
  if (is_new) descriptor_budget::add(this);
  return Status::ok();
}

Status File::size(std::uint64_t* bytes) const {
  if (remote_ != nullptr) {
    *bytes = seen_.size;
    return Status::ok();
  }
  Held descriptor;
  RECORDSMITH_RETURN_IF_ERROR(acquire(&descriptor));
  struct stat status;
  if (fstat(descriptor->number(), &status) != 0) return system_failure("stat", errno);
  *bytes = static_cast<std::uint64_t>(status.st_size);
  return Status::ok();
}

Status File::read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const {
  if (remote_ != nullptr) return remote_->read_at(offset, to, wanted, got);
  Held descriptor;
  *got = 0;
  RECORDSMITH_RETURN_IF_ERROR(acquire(&descriptor));
  const int error = read_fully(
      [&](std::uint8_t* at, std::size_t count, std::size_t done) {
        return pread(descriptor->number(), at, count, static_cast<off_t>(offset + done));
      },
      to, wanted, got);
  return error == 0 ? Status::ok() : system_failure("read", error);
}

Status File::read_next(void* to, std::size_t wanted, std::size_t* got) const {
  const int error = read_fully(
      [&](std::uint8_t* at, std::size_t count, std::size_t) { return ::read(descriptor_->number(), at, count); }, to,
      wanted, got);
  return error == 0 ? Status::ok() : system_failure("read", error);
}

std::unique_ptr<MappedFile> File::map_all() const {
  std::uint64_t bytes = 0;
  Held descriptor;
  if (!seekable_ || remote_ != nullptr || !size(&bytes).is_ok() || !acquire(&descriptor).is_ok()) return nullptr;
  return MappedFile::map(descriptor->number(), 0, bytes, MappedFile::Access::kRandom);
}

const MappedFile* File::mapped() const {
  std::call_once(mapping_, [this] { mapped_ = map_all(); });
  return mapped_.get();
}

std::unique_ptr<MappedFile> File::map_window(std::uint64_t offset, std::uint64_t size) const {
  std::uint64_t bytes = 0;
  Held descriptor;
  if (!seekable_ || remote_ != nullptr || !this->size(&bytes).is_ok() || offset >= bytes ||
      !acquire(&descriptor).is_ok()) {
    return nullptr;
  }
  return MappedFile::map(descriptor->number(), offset, std::min(size, bytes - offset), MappedFile::Access::kInOrder);
}

void File::announce(std::uint64_t offset, std::uint64_t size) const {
  if (remote_ != nullptr) return;
  Held descriptor;
  if (!acquire(&descriptor).is_ok()) return;  // reading reports it
  posix_fadvise(descriptor->number(), static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

Status FileStream::read(std::uint8_t* to, std::size_t wanted, std::size_t* got) {
  if (!file_->is_seekable()) {
    Status status = file_->read_next(to, wanted, got);
    offset_ += *got;
    return status;
  }
  Status status = file_->read_at(offset_, to, wanted, got);
  // Also at the end: a file that was cut short has not ended there.
  if (status.is_ok()) status = file_->check_unchanged();
  if (!status.is_ok()) *got = 0;  // the bytes may be those of a changed file
  offset_ += *got;
  return status;
}

Status FileStream::remaining(std::uint64_t* bytes) const {
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->check_unchanged(&size));
  *bytes = size == kUnknown ? kUnknown : size - std::min(size, offset_);
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
  RECORDSMITH_RETURN_IF_ERROR(
      File::open(input.path, &opened, input.known ? &input.known->identity : nullptr, /*lends=*/true));
  if (input.compression.has_value()) {
    *compression = *input.compression;
  } else {
    RECORDSMITH_RETURN_IF_ERROR(detect_compression(*opened, compression));
  }
  *file = std::move(opened);
  return Status::ok();
}

}  // namespace recordsmith
