#include "records/verification.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/checksums/crc32c.h"
#include "base/thread_team.h"
#include "files/inflate_source.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

using FilePointer = std::shared_ptr<const File>;

// How far to look for a place to begin.
constexpr std::uint64_t kFarthestGuess = std::uint64_t{4} << 20;

// The records of a plain file that begin at or after `begin` and before `limit`.
struct Stretch {
  std::uint64_t begin = kUnknown;  // of the first record; kUnknown: no guess
  std::uint64_t limit = kUnknown;
  std::uint64_t end = kUnknown;  // of the last record
  std::uint64_t records = 0;     // sound ones, up to the end or the failure
  Status failure;
};

struct Run {
  const std::uint8_t* end;
  std::uint64_t records;
};

// The CRC of some bytes that are not in the cache yet. The processor's own prefetching does not follow its three
// streams: for records of 3 KB, prefetching the next bytes nearly doubles the speed.
class CrcAhead {
 public:
  explicit CrcAhead(const std::uint8_t* begin, const std::uint8_t* end) : asked_(begin), end_(end) {}

  std::uint32_t masked(const std::uint8_t* at, std::size_t size) {
    std::uint32_t crc = 0;
    do {
      const std::size_t part = std::min(size, kPart);
      ask_for(at + part);
      crc = crc32c(at, part, crc);
      at += part;
      size -= part;
    } while (size > 0);
    return mask_crc(crc);
  }

 private:
  static constexpr std::size_t kPart = 4096;
  static constexpr std::ptrdiff_t kAhead = 2048;
  static constexpr std::ptrdiff_t kCacheLine = 64;

  void ask_for(const std::uint8_t* at) {
    const std::uint8_t* const until = end_ - at > kAhead ? at + kAhead : end_;
    for (; asked_ < until; asked_ += kCacheLine) __builtin_prefetch(asked_);
  }

  const std::uint8_t* asked_;
  const std::uint8_t* end_;
};

// Walks over the sound records that are completely in [at, end) and begin before `limit`. The bytes may change
// meanwhile: the length that is used must be the one that was checked, and not loaded again by the compiler.
Run pass_sound_records(const std::uint8_t* at, const std::uint8_t* end, const std::uint8_t* limit) {
  std::uint64_t records = 0;
  CrcAhead crc(at, end);
  while (at < limit && static_cast<std::size_t>(end - at) >= kFramingBytes) {
    std::uint8_t header[kHeaderBytes];
    std::memcpy(header, at, sizeof header);
    __asm__ volatile("" : "+m"(header));
    std::uint64_t length = 0;
    if (!read_header(header, &length) || length > static_cast<std::size_t>(end - at) - kFramingBytes) break;
    const std::uint8_t* const data = at + kHeaderBytes;
    if (crc.masked(data, length) != load_u32(data + length)) break;
    at = data + length + kFooterBytes;
    ++records;
  }
  return {at, records};
}

// The same in a mapped window, as guarded work.
struct MappedRun {
  const MappedFile* window;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t limit;
  volatile std::uint64_t records;
  volatile std::uint64_t reached;

  static void pass(void* context) {
    auto* run = static_cast<MappedRun*>(context);
    const std::uint8_t* bytes = run->window->bytes(0, run->end);
    if (bytes == nullptr) return;
    const Run passed = pass_sound_records(bytes + run->begin, bytes + run->end, bytes + run->limit);
    run->records = passed.records;
    run->reached = static_cast<std::uint64_t>(passed.end - bytes);
  }
};

// Checks the records of a plain file: in mapped windows, or in pieces that it reads where that fails.
class StretchChecker {
 public:
  StretchChecker(FilePointer file, const VerifyOptions& options)
      : file_(std::move(file)),
        piece_(options.piece),
        window_(options.window),
        buffer_(kLeftOver + kPageSize + options.piece) {}

  void check(Stretch* stretch) {
    move_to(stretch->begin);
    stretch->failure = check_records(stretch);
    stretch->end = offset_;
  }

 private:
  // Space in front of a piece for the rest of the one before: less than a record's framing.
  static constexpr std::size_t kLeftOver = kPageSize;
  static_assert(kFramingBytes <= kLeftOver);

  void move_to(std::uint64_t offset) {
    offset_ = offset;
    at_ = end_ = buffer_.data() + kLeftOver;
  }

  std::size_t present() const { return static_cast<std::size_t>(end_ - at_); }

  void advance(std::size_t bytes) {
    at_ += bytes;
    offset_ += bytes;
  }

  // Reads until `needed` bytes, at most those of a record's framing, are in memory, or the file ends.
  void fetch(std::size_t needed) {
    while (present() < needed) {
      const std::size_t left = present();
      const std::uint64_t next = offset_ + left;
      // Aligned like the file (byte_source.h), and up to where a block of it ends.
      std::uint8_t* const to = buffer_.data() + kLeftOver + next % kPageSize;
      std::memmove(to - left, at_, left);
      at_ = to - left;
      end_ = to;
      std::size_t got = 0;
      const std::size_t wanted = piece_ - next % std::min(piece_, kPageSize);
      if (!file_->read_at(next, to, wanted, &got).is_ok() || got == 0) return;  // the cursor describes the failure
      end_ += got;
    }
  }

  Status check_records(Stretch* stretch) {
    while (offset_ < stretch->limit) {
      if (window_ != 0) {
        move_to(offset_);
        while (pass_window(stretch)) {
        }
        if (offset_ >= stretch->limit) break;
      }
      const std::uint64_t before_limit = std::min<std::uint64_t>(stretch->limit - offset_, present());
      const Run run = pass_sound_records(at_, end_, at_ + before_limit);
      stretch->records += run.records;
      advance(static_cast<std::size_t>(run.end - at_));
      if (offset_ >= stretch->limit) break;

      // Here is a record that is longer than the piece, or the file's end, or damage.
      const std::uint64_t begin = offset_;
      bool is_whole = false;
      RECORDSMITH_RETURN_IF_ERROR(check_record(&is_whole).at(file_->path(), begin, stretch->records));
      if (!is_whole) {
        bool is_end = false;
        RECORDSMITH_RETURN_IF_ERROR(look_closely(begin, stretch->records, &is_end));
        if (is_end) break;
      }
      ++stretch->records;
    }
    return Status::ok();
  }

  // Walks over the sound records of the next window. False if there is none: at a record that is larger, at damage,
  // at the end, or where the file cannot be mapped or shrinks meanwhile.
  bool pass_window(Stretch* stretch) {
    if (offset_ >= stretch->limit) return false;
    const std::uint64_t start = offset_ - offset_ % kWindowAlignment;
    const std::unique_ptr<MappedFile> window = file_->map_window(start, window_);
    if (window == nullptr) return false;
    const std::uint64_t size = window->size();
    MappedRun run{window.get(), offset_ - start, size, std::min(stretch->limit - start, size), 0, offset_ - start};
    if (run.begin >= size || !MappedFile::guarded(&MappedRun::pass, &run) || run.records == 0) return false;
    stretch->records += run.records;
    move_to(start + run.reached);
    return true;
  }

  // One record, in as many pieces as it takes; *is_whole is false if there is none, or not all of it.
  Status check_record(bool* is_whole) {
    fetch(kHeaderBytes);
    std::uint64_t left = 0;
    if (present() < kHeaderBytes || !read_header(at_, &left)) return Status::ok();
    advance(kHeaderBytes);
    std::uint32_t crc = 0;
    while (left > 0) {
      fetch(1);
      if (present() == 0) return Status::ok();
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, present()));
      crc = crc32c(at_, part, crc);
      advance(part);
      left -= part;
    }
    fetch(kFooterBytes);
    if (present() < kFooterBytes) return Status::ok();
    *is_whole = true;
    const std::uint32_t stored = load_u32(at_);
    advance(kFooterBytes);
    return compare_crcs(mask_crc(crc), stored);
  }

  // The cursor's failure at `begin`. It may find a sound record, if the file has changed meanwhile.
  Status look_closely(std::uint64_t begin, std::uint64_t number, bool* is_end) {
    RecordCursor cursor(std::make_unique<FileStream>(file_, begin), file_->path(), begin, number);
    RecordBlock block;
    move_to(begin);
    RECORDSMITH_RETURN_IF_ERROR(cursor.next_block(1, 1, &block));
    *is_end = block.empty();
    if (!block.empty()) RECORDSMITH_RETURN_IF_ERROR(check_payload(block[0], file_->path()));
    move_to(cursor.offset());
    return Status::ok();
  }

  const FilePointer file_;
  const std::size_t piece_;
  const std::uint64_t window_;
  const Buffer buffer_;
  std::uint64_t offset_ = 0;          // in the file, of at_
  const std::uint8_t* at_ = nullptr;  // the bytes read and not yet checked are [at_, end_)
  const std::uint8_t* end_ = nullptr;
};

Status verify_in_order(const FilePointer& file, Compression compression, std::uint64_t* records) {
  RecordCursor cursor(open_stream(file, compression), file->path());
  RecordBlock block;
  for (;;) {
    RECORDSMITH_RETURN_IF_ERROR(cursor.next_block(~std::size_t{0}, std::size_t{256} << 10, &block));
    if (block.empty()) return Status::ok();
    for (std::size_t i = 0; i < block.size(); ++i, ++*records) {
      RECORDSMITH_RETURN_IF_ERROR(check_payload(block[i], file->path()));
    }
  }
}

// The first place at or after `nominal` at which a record may begin; kUnknown if there is none near it.
std::uint64_t guess_begin(const FilePointer& file, std::uint64_t nominal, std::uint64_t limit) {
  if (nominal == 0) return 0;
  RecordCursor cursor(std::make_unique<FileStream>(file, nominal - 1), file->path(), nominal - 1);
  bool found = false;
  const Status status = cursor.resynchronise(&found, std::min(limit - nominal, kFarthestGuess));
  return status.is_ok() && found ? cursor.offset() : kUnknown;
}

// The state of one file.
struct FileWork {
  FilePointer file;
  Compression compression = Compression::kNone;
  std::vector<Stretch> stretches;  // empty: in order
  std::vector<std::uint64_t> nominal_begins;
  std::size_t handed_out = 0;
  std::size_t unfinished = 0;
  std::uint64_t records = 0;
  Status failure;
};

class Verifier {
 public:
  Verifier(const std::vector<InputFile>& inputs, const VerifyOptions& options)
      : inputs_(inputs), options_(options), works_(inputs.size()) {}

  Status run(std::uint64_t* records) {
    run_on_threads(useful_threads(), [this] { work(); });
    *records = 0;
    for (FileWork& file_work : works_) {
      *records += file_work.records;
      if (!file_work.failure.is_ok()) return std::move(file_work.failure);
    }
    return Status::ok();
  }

 private:
  std::size_t useful_threads() const {
    std::uint64_t total = 0;
    for (const InputFile& input : inputs_) {
      std::error_code ignored;  // opening the file reports it
      const std::uintmax_t size = std::filesystem::file_size(input.path, ignored);
      if (!ignored) total += size;
    }
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(total / options_.smallest_stretch, 1, std::max(1u, options_.threads)));
  }

  void work() {
    FileWork* file_work = nullptr;
    std::size_t index = 0;
    while (take(&file_work, &index)) {
      Status failure;
      if (file_work->stretches.empty()) {
        failure = verify_in_order(file_work->file, file_work->compression, &file_work->records);
      } else {
        Stretch& stretch = file_work->stretches[index];
        stretch.begin = guess_begin(file_work->file, file_work->nominal_begins[index], stretch.limit);
        if (stretch.begin < stretch.limit) StretchChecker(file_work->file, options_).check(&stretch);
      }
      if (is_last_of(file_work) && failure.is_ok()) failure = join_stretches(file_work);
      if (!failure.is_ok()) fail(file_work, std::move(failure));
    }
  }

  // The next piece of work, in the order of the files. There is none after a file that has failed.
  bool take(FileWork** file_work, std::size_t* index) {
    const std::lock_guard lock(mutex_);
    while (!has_failed_ && next_file_ < works_.size()) {
      FileWork& next = works_[next_file_];
      if (next.file == nullptr) {
        next.failure = open(inputs_[next_file_], &next);
        if (!next.failure.is_ok()) {
          has_failed_ = true;
          return false;
        }
      }
      *file_work = &next;
      *index = next.handed_out++;
      if (next.handed_out == std::max<std::size_t>(1, next.stretches.size())) ++next_file_;
      return true;
    }
    return false;
  }

  Status open(const InputFile& input, FileWork* file_work) const {
    RECORDSMITH_RETURN_IF_ERROR(open_input(input, &file_work->file, &file_work->compression));
    file_work->unfinished = 1;
    if (file_work->compression != Compression::kNone || !file_work->file->is_seekable()) return Status::ok();
    std::uint64_t size = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_work->file->size(&size));
    std::uint64_t count = 1;
    if (options_.threads > 1) {
      count = std::max<std::uint64_t>(options_.threads, size / options_.usual_stretch);
      count = std::clamp<std::uint64_t>(size / options_.smallest_stretch, 1, count);
    }
    file_work->stretches.resize(static_cast<std::size_t>(count));
    file_work->unfinished = file_work->stretches.size();
    for (std::size_t i = 0; i < file_work->stretches.size(); ++i) {
      file_work->nominal_begins.push_back(size / count * i);
      if (i > 0) file_work->stretches[i - 1].limit = file_work->nominal_begins.back();
    }
    return Status::ok();
  }

  bool is_last_of(FileWork* file_work) {
    const std::lock_guard lock(mutex_);
    return --file_work->unfinished == 0;
  }

  void fail(FileWork* file_work, Status failure) {
    const std::lock_guard lock(mutex_);
    file_work->failure = std::move(failure);
    has_failed_ = true;
  }

  // Compares the stretches of a file, and checks those again that did not begin where the one before ended.
  Status join_stretches(FileWork* file_work) const {
    std::uint64_t begin = 0;
    for (Stretch& stretch : file_work->stretches) {
      if (begin >= stretch.limit) continue;  // no record begins in it
      if (stretch.begin != begin) recheck(*file_work, begin, stretch.limit, &stretch);
      for (;;) {
        file_work->records += stretch.records;
        if (!stretch.failure.is_ok()) {
          if (stretch.failure.failure().record != kUnknown) stretch.failure.failure().record = file_work->records;
          return std::move(stretch.failure);
        }
        begin = stretch.end;
        if (begin >= stretch.limit || stretch.limit == kUnknown) break;
        // The file ended inside this stretch: it was cut meanwhile. Its content now decides.
        recheck(*file_work, begin, kUnknown, &stretch);
      }
      if (stretch.limit == kUnknown) break;
    }
    file_work->stretches.clear();
    const FilePointer file = std::move(file_work->file);
    return file->check_unchanged();
  }

  void recheck(const FileWork& file_work, std::uint64_t begin, std::uint64_t limit, Stretch* stretch) const {
    *stretch = Stretch();
    stretch->begin = begin;
    stretch->limit = limit;
    StretchChecker(file_work.file, options_).check(stretch);
  }

  const std::vector<InputFile>& inputs_;
  const VerifyOptions options_;
  std::mutex mutex_;
  std::size_t next_file_ = 0;
  bool has_failed_ = false;
  std::vector<FileWork> works_;
};

}  // namespace

Status verify_files(const std::vector<InputFile>& inputs, const VerifyOptions& options, std::uint64_t* records) {
  MappedFile::arm();
  try {
    return Verifier(inputs, options).run(records);
  } catch (const std::exception&) {
    return out_of_memory("read a record");
  }
}

}  // namespace recordsmith
