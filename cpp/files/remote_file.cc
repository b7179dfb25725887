#include "files/remote_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace recordsmith {
namespace {

// Ranges with fewer bytes between them are fetched as one: a request costs more than these bytes.
constexpr std::uint64_t kNear = std::uint64_t{64} << 10;
// How many answers are kept for single reads: as many as threads may read one file from different places.
constexpr std::size_t kRecent = 8;

std::atomic<RemoteFile::Opener> opener = nullptr;

std::vector<ByteRange> merged(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& left, const ByteRange& right) { return left.begin < right.begin; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end + kNear) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace

void Segments::add(Segment segment) {
  const auto by_begin = [](const Segment& left, const Segment& right) { return left.begin < right.begin; };
  segments_.insert(std::upper_bound(segments_.begin(), segments_.end(), segment, by_begin), std::move(segment));
}

bool Segments::copy(std::uint64_t offset, void* to, std::size_t size) const {
  auto* at = static_cast<std::uint8_t*>(to);
  const auto is_before = [](std::uint64_t place, const Segment& segment) { return place < segment.begin; };
  auto next = std::upper_bound(segments_.begin(), segments_.end(), offset, is_before);
  if (next != segments_.begin()) --next;
  for (; size > 0; ++next) {
    // Segments may overlap: one that ends before the place is passed over.
    while (next != segments_.end() && next->end() <= offset) ++next;
    if (next == segments_.end() || next->begin > offset) return false;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size, next->end() - offset));
    std::memcpy(at, next->bytes.data() + (offset - next->begin), part);
    at += part;
    offset += part;
    size -= part;
  }
  return true;
}

bool RemoteFile::is_url(const std::string& path) {
  const std::size_t scheme = path.find("://");
  return scheme != std::string::npos && scheme > 0 && path.find('/') == scheme + 1;
}

void RemoteFile::set_opener(Opener given) { opener.store(given); }

Status RemoteFile::open(const std::string& url, std::unique_ptr<RemoteFile>* file) {
  const Opener open_source = opener.load();
  if (open_source == nullptr) return Status::of(Code::kInvalidArgument, "URLs cannot be opened without an opener");
  std::unique_ptr<RemoteSource> source;
  RECORDSMITH_RETURN_IF_ERROR(open_source(url, &source));
  file->reset(new RemoteFile(std::move(source)));
  return Status::ok();
}

Status RemoteFile::read_at(std::uint64_t offset, void* to, std::size_t wanted, std::size_t* got) const {
  *got = 0;
  const std::uint64_t left = facts_.size - std::min(facts_.size, offset);
  wanted = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left));
  if (wanted == 0) return Status::ok();
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<const Segments>& segments : recent_) {
      if (!segments->copy(offset, to, wanted)) continue;
      *got = wanted;
      return Status::ok();
    }
  }
  auto segments = std::make_shared<Segments>();
  const ByteRange range{offset, offset + wanted};
  RECORDSMITH_RETURN_IF_ERROR(source_->fetch({&range, 1}, segments.get()));
  if (!segments->copy(offset, to, wanted)) return Status::of(Code::kInvalidArgument, "a remote source left bytes out");
  *got = wanted;
  std::shared_ptr<const Segments> oldest;  // released after the lock: that may need the interpreter
  const std::lock_guard lock(mutex_);
  if (recent_.size() == kRecent) {
    oldest = std::move(recent_.front());
    recent_.erase(recent_.begin());
  }
  recent_.push_back(std::move(segments));
  return Status::ok();
}

Status RemoteFile::fetch(std::vector<ByteRange> ranges, Segments* segments) const {
  return source_->fetch(merged(std::move(ranges)), segments);
}

void RemoteFile::announce(std::vector<ByteRange> ranges) const { source_->announce(merged(std::move(ranges))); }

}  // namespace recordsmith
