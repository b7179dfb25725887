#include "records/record_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

constexpr std::uint64_t kBlockOffsets = 512;
constexpr std::size_t kOffsetBytes = sizeof(std::uint64_t);
constexpr std::array<char, 8> kMagic{'R', 'S', 'I', 'N', 'D', 'E', 'X', '2'};
constexpr std::uint64_t kSamples = 16;  // records of a copy that are compared
constexpr std::int64_t kSecond = 1'000'000'000;

struct Header {
  std::array<char, 8> magic;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t modified;
  std::int64_t changed;
  std::uint64_t sample;
  std::int64_t noted;
  std::uint64_t compression;
  std::uint64_t records;
  std::uint64_t content;
  std::uint64_t checksum;
};
static_assert(sizeof(Header) == 88);

std::uint64_t checksum_of(const Header& header) { return masked_crc32c(&header, offsetof(Header, checksum)); }

std::uint64_t blocks_of(std::uint64_t count) { return (count + kBlockOffsets - 1) / kBlockOffsets; }

Status stale(const std::string& path, const char* detail) {
  Failure failure;
  failure.code = Code::kStaleIndex;
  failure.path = path;
  failure.detail = detail;
  return Status(std::move(failure));
}

Status system_failure(const std::string& path, const char* action) {
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = path;
  failure.detail = action;
  failure.system_error = errno;
  return Status(std::move(failure));
}

// A copy may have lost the fractions of a second of its time.
bool is_same_time(std::int64_t of_copy, std::int64_t noted) {
  return of_copy == noted || (of_copy % kSecond == 0 && of_copy == noted - noted % kSecond);
}

}  // namespace

Status GivenOffsets::locate(std::uint64_t first, OffsetPlace* place) const {
  if (offsets_.size() < 2 || first > offsets_.size() - 2) return stale("", "damaged");
  *place = {offsets_.data() + first, nullptr, 0};
  __builtin_prefetch(place->given);
  return Status::ok();
}

Status GivenOffsets::read(std::uint64_t first, std::size_t many, std::uint64_t* to) const {
  if (first > offsets_.size() || many > offsets_.size() - first) return stale("", "damaged");
  std::copy_n(offsets_.data() + first, many, to);
  return Status::ok();
}

struct IndexFile::Checked {
  explicit Checked(std::uint64_t blocks) : flags(blocks) {}
  std::vector<std::atomic<bool>> flags;
};

IndexFile::IndexFile() = default;
IndexFile::~IndexFile() = default;

Status IndexFile::open(const std::string& path, std::unique_ptr<IndexFile>* to) {
  std::shared_ptr<File> file;
  RECORDSMITH_RETURN_IF_ERROR(File::open(path, &file));
  std::unique_ptr<IndexFile> index(new IndexFile);
  index->path_ = path;
  Header header;
  std::size_t got = 0;
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file->read_at(0, &header, sizeof header, &got));
  RECORDSMITH_RETURN_IF_ERROR(file->size(&size));
  if (got < sizeof header || header.magic != kMagic || header.checksum != checksum_of(header) ||
      header.compression > static_cast<std::uint64_t>(Compression::kZlib) || header.records >= size) {
    return stale(path, "damaged");
  }
  const std::uint64_t count = header.records + 1;
  if (size != sizeof header + count * kOffsetBytes + blocks_of(count) * sizeof(std::uint32_t)) {
    return stale(path, "damaged");
  }
  index->facts_ = {{{header.inode, header.size, header.modified, header.changed}, header.sample, header.noted},
                   static_cast<Compression>(header.compression),
                   header.records,
                   header.content};
  MappedFile::arm();
  index->mapped_ = file->map_all();
  if (index->mapped_ == nullptr) return stale(path, "not to be mapped");
  index->checked_ = std::make_unique<Checked>(blocks_of(count));

  std::array<std::uint64_t, 2> ends{};
  RECORDSMITH_RETURN_IF_ERROR(index->read(0, 1, &ends[0]));
  RECORDSMITH_RETURN_IF_ERROR(index->read(header.records, 1, &ends[1]));
  if (ends[0] != 0 || (index->facts_.compression == Compression::kNone && ends[1] != header.size)) {
    return stale(path, "not of the whole file");
  }
  *to = std::move(index);
  return Status::ok();
}

Status IndexFile::check_block(std::uint64_t block) const {
  std::atomic<bool>& is_checked = checked_->flags[block];
  if (is_checked.load(std::memory_order_relaxed)) [[likely]]
    return Status::ok();
  std::array<std::uint64_t, kBlockOffsets> offsets;
  const std::uint64_t first = block * kBlockOffsets;
  const std::size_t bytes = static_cast<std::size_t>(std::min(kBlockOffsets, count() - first)) * kOffsetBytes;
  std::uint32_t stored = 0;
  const std::uint64_t table = sizeof(Header) + count() * kOffsetBytes;
  if (!mapped_->copy(sizeof(Header) + first * kOffsetBytes, offsets.data(), bytes) ||
      !mapped_->copy(table + block * sizeof stored, &stored, sizeof stored) ||
      masked_crc32c(offsets.data(), bytes) != stored) {
    return stale(path_, "damaged");
  }
  is_checked.store(true, std::memory_order_relaxed);
  return Status::ok();
}

Status IndexFile::locate(std::uint64_t first, OffsetPlace* place) const {
  if (count() < 2 || first > count() - 2) return stale(path_, "damaged");
  const std::uint64_t block = first / kBlockOffsets;
  RECORDSMITH_RETURN_IF_ERROR(check_block(block));
  if (first % kBlockOffsets == kBlockOffsets - 1) RECORDSMITH_RETURN_IF_ERROR(check_block(block + 1));
  *place = {nullptr, mapped_.get(), sizeof(Header) + first * kOffsetBytes};
  mapped_->prefetch(place->at, 2 * kOffsetBytes);
  return Status::ok();
}

bool IndexFile::is_sound() const {
  for (std::uint64_t block = 0; block < checked_->flags.size(); ++block) {
    checked_->flags[block].store(false, std::memory_order_relaxed);
    if (!check_block(block).is_ok()) return false;
  }
  return true;
}

Status IndexFile::read(std::uint64_t first, std::size_t many, std::uint64_t* to) const {
  if (first > count() || many > count() - first) return stale(path_, "damaged");
  if (many == 0) return Status::ok();
  for (std::uint64_t block = first / kBlockOffsets; block <= (first + many - 1) / kBlockOffsets; ++block) {
    RECORDSMITH_RETURN_IF_ERROR(check_block(block));
  }
  const bool is_there = mapped_->copy(sizeof(Header) + first * kOffsetBytes, to, many * kOffsetBytes);
  return is_there ? Status::ok() : stale(path_, "damaged");
}

bool IndexFile::leads_on(const File& file, std::uint64_t record) const {
  std::array<std::uint64_t, 2> ends{};
  std::array<std::uint8_t, kHeaderBytes> header;
  std::size_t got = 0;
  std::uint64_t length = 0;
  return read(record, 2, ends.data()).is_ok() && file.read_at(ends[0], header.data(), kHeaderBytes, &got).is_ok() &&
         got == kHeaderBytes && read_header(header.data(), &length) && ends[1] > ends[0] &&
         ends[1] - ends[0] >= kFramingBytes && length == ends[1] - ends[0] - kFramingBytes;
}

Status IndexFile::fits(const std::string& path, bool* fits) {
  *fits = false;
  if (RemoteFile::is_url(path)) {
    std::shared_ptr<File> file;
    Status opened = File::open(path, &file, &facts_.file);
    *fits = opened.is_ok();
    return !opened.is_ok() && opened.failure().code == Code::kChanged ? Status::ok() : std::move(opened);
  }
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return system_failure(path, "stat");
  const FileFacts now = facts_of(status);
  if (now.size != facts_.file.facts.size || !is_same_time(now.modified, facts_.file.facts.modified)) {
    return Status::ok();
  }
  const bool is_copy = now != facts_.file.facts || !facts_.file.is_settled();
  FileIdentity as_it_is = facts_.file;
  as_it_is.facts.modified = now.modified;
  std::shared_ptr<File> file;
  Status opened = File::open(path, &file, &as_it_is);
  if (!opened.is_ok()) return opened.failure().code == Code::kChanged ? Status::ok() : std::move(opened);
  *fits = true;
  if (facts_.compression == Compression::kNone && facts_.records > 0) {
    const std::uint64_t looks = std::min(facts_.records, is_copy ? kSamples : std::uint64_t{2});
    for (std::uint64_t i = 0; i < looks; ++i) {
      *fits = *fits && leads_on(*file, looks == 1 ? 0 : (facts_.records - 1) / (looks - 1) * i);
    }
    *fits = *fits && leads_on(*file, facts_.records - 1);
  }
  if (*fits && is_copy) facts_.file = {now, facts_.file.sample, nanoseconds_now()};
  return Status::ok();
}

IndexWriter::IndexWriter(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), position_(sizeof(Header)) {
  block_.reserve(kBlockOffsets);
}

IndexWriter::~IndexWriter() { ::close(descriptor_); }

Status IndexWriter::create(const std::string& path, std::unique_ptr<IndexWriter>* writer) {
  // atomic_file.py has created the file, and holds a lock on it.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_failure(path, "create");
  writer->reset(new IndexWriter(path, descriptor));
  return Status::ok();
}

Status IndexWriter::write(const void* data, std::size_t size, std::uint64_t at) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        pwrite(descriptor_, static_cast<const std::uint8_t*>(data) + done, size - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return system_failure(path_, "write");
    done += static_cast<std::size_t>(count);
  }
  return Status::ok();
}

Status IndexWriter::end_block() {
  if (block_.empty()) return Status::ok();
  const std::size_t bytes = block_.size() * kOffsetBytes;
  checksums_.push_back(masked_crc32c(block_.data(), bytes));
  RECORDSMITH_RETURN_IF_ERROR(write(block_.data(), bytes, position_));
  position_ += bytes;
  block_.clear();
  return Status::ok();
}

Status IndexWriter::add(std::uint64_t offset) {
  block_.push_back(offset);
  return block_.size() == kBlockOffsets ? end_block() : Status::ok();
}

Status IndexWriter::finish(const IndexFacts& facts) {
  RECORDSMITH_RETURN_IF_ERROR(end_block());
  RECORDSMITH_RETURN_IF_ERROR(write(checksums_.data(), checksums_.size() * sizeof(std::uint32_t), position_));
  const FileFacts& file = facts.file.facts;
  Header header{kMagic,
                file.inode,
                file.size,
                file.modified,
                file.changed,
                facts.file.sample,
                facts.file.noted,
                static_cast<std::uint64_t>(facts.compression),
                facts.records,
                facts.content,
                0};
  header.checksum = checksum_of(header);
  return write(&header, sizeof header, 0);
}

Status build_index(const InputFile& input, const std::function<Status(std::uint64_t)>& add, IndexFacts* facts) {
  std::shared_ptr<const File> file;
  RECORDSMITH_RETURN_IF_ERROR(open_input(input, &file, &facts->compression));
  std::uint64_t size = 0;
  facts->records = 0;
  const auto count = [&](std::uint64_t offset) {
    ++facts->records;
    return add(offset);
  };
  RECORDSMITH_RETURN_IF_ERROR(scan_records(file, facts->compression, false, count, &facts->content));
  --facts->records;  // the end
  RECORDSMITH_RETURN_IF_ERROR(file->check_unchanged(&size));
  facts->file = file->identity();
  if (file->is_seekable() && size != facts->file.facts.size) {
    Failure failure;
    failure.code = Code::kChanged;
    failure.path = input.path;
    failure.found = std::to_string(size);
    failure.expected = std::to_string(facts->file.facts.size);
    failure.detail = "grown";
    return Status(std::move(failure));
  }
  return Status::ok();
}

}  // namespace recordsmith
