#include "record_access.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "thread_team.h"

namespace recordsmith {
namespace {

// Up to here a copy out of the mapping is cheaper than a system call.
constexpr std::size_t kSmallRead = 16 << 10;
// What is worth a thread of its own.
constexpr std::uint64_t kBytesPerThread = 384 << 10;
// How many records ahead, and how much of each, is asked for while one is copied: random places are never in the cache.
constexpr std::size_t kPrefetchRecords = 8;
constexpr std::size_t kPrefetchBytes = 1024;

Status changed(const File& file, const RecordPlace& place) {
  Failure failure;
  failure.code = Code::kChanged;
  return Status(std::move(failure)).at(file.path(), place.offset, place.number);
}

Status read_some(const File& file, std::uint64_t offset, void* to, std::size_t size, std::size_t* got) {
  return size <= kSmallRead ? file.copy_at(offset, to, size, got) : file.read_at(offset, to, size, got);
}

Status read_payload(const File& file, const RecordPlace& place, bool verify, std::uint8_t* target) {
  const auto length = static_cast<std::size_t>(place.length);
  std::array<std::uint8_t, kHeaderBytes> header;
  std::array<std::uint8_t, kFooterBytes> footer;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file.copy_at(place.offset, header.data(), header.size(), &got));
  std::uint64_t claimed = 0;
  if (got < header.size() || !read_header(header.data(), &claimed) || claimed != place.length) {
    return changed(file, place);
  }
  RECORDSMITH_RETURN_IF_ERROR(read_some(file, place.offset + kHeaderBytes, target, length, &got));
  if (got < length) return changed(file, place);
  if (!verify) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(file.copy_at(place.offset + kHeaderBytes + length, footer.data(), footer.size(), &got));
  if (got < footer.size()) return changed(file, place);
  return compare_payload_crc(target, length, load_u32(footer.data())).at(file.path(), place.offset, place.number);
}

}  // namespace

Status check_places(Files files, std::span<const RecordPlace> places, std::uint64_t* total_bytes) {
  std::vector<std::uint64_t> sizes(files.size(), kUnknown);
  *total_bytes = 0;
  for (const RecordPlace& place : places) {
    std::uint64_t& size = sizes[place.file];
    if (size == kUnknown) RECORDSMITH_RETURN_IF_ERROR(files[place.file]->size(&size));
    if (place.offset > size || size - place.offset < kFramingBytes ||
        place.length > size - place.offset - kFramingBytes) {
      return changed(*files[place.file], place);
    }
    *total_bytes += place.length + kFramingBytes;
  }
  return Status::ok();
}

Status read_records(Files files, std::span<const RecordPlace> places, bool verify, Buffer* bytes,
                    std::vector<RecordView>* records) {
  std::uint64_t total = 0;
  RECORDSMITH_RETURN_IF_ERROR(check_places(files, places, &total));
  MappedFile::arm();
  *bytes = Buffer(static_cast<std::size_t>(total));
  records->clear();
  records->reserve(places.size());

  std::uint8_t* to = bytes->data();
  for (std::size_t first = 0; first < places.size();) {
    std::size_t last = first;
    std::uint64_t end = places[first].offset + places[first].length + kFramingBytes;
    while (last + 1 < places.size() && places[last + 1].file == places[first].file && places[last + 1].offset == end) {
      ++last;
      end += places[last].length + kFramingBytes;
    }
    const File& file = *files[places[first].file];
    const auto wanted = static_cast<std::size_t>(end - places[first].offset);
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(read_some(file, places[first].offset, to, wanted, &got));
    for (; first <= last; ++first) {
      const RecordPlace& place = places[first];
      std::uint64_t length = 0;
      if (got < place.length + kFramingBytes || !read_header(to, &length) || length != place.length) {
        return changed(file, place);
      }
      const RecordView record{to + kHeaderBytes, place.length, place.offset, place.number};
      if (verify) RECORDSMITH_RETURN_IF_ERROR(check_payload(record, file.path()));
      records->push_back(record);
      to += place.length + kFramingBytes;
      got -= static_cast<std::size_t>(place.length + kFramingBytes);
    }
  }
  return Status::ok();
}

Status read_payloads(Files files, std::span<const RecordPlace> places, bool verify, unsigned threads,
                     std::span<std::uint8_t* const> targets) {
  MappedFile::arm();
  std::uint64_t total = 0;
  for (const RecordPlace& place : places) total += place.length;
  const std::size_t workers =
      std::clamp<std::size_t>(static_cast<std::size_t>(total / kBytesPerThread), 1, std::max(1u, threads));

  std::atomic<std::size_t> next_place = 0;
  std::mutex mutex;
  Status first_failure;
  run_on_threads(workers, [&] {
    for (std::size_t i; (i = next_place.fetch_add(1, std::memory_order_relaxed)) < places.size();) {
      if (i + kPrefetchRecords < places.size()) {
        const RecordPlace& later = places[i + kPrefetchRecords];
        const std::uint64_t bytes = std::min<std::uint64_t>(later.length + kFramingBytes, kPrefetchBytes);
        files[later.file]->prefetch(later.offset, static_cast<std::size_t>(bytes));
      }
      Status status = read_payload(*files[places[i].file], places[i], verify, targets[i]);
      if (status.is_ok()) continue;
      const std::lock_guard lock(mutex);
      first_failure = std::move(status);
      next_place = places.size();
    }
  });
  return first_failure;
}

}  // namespace recordsmith
