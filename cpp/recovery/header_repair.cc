#include "recovery/header_repair.h"

#include <algorithm>
#include <array>

#include "base/checksums/crc32c.h"
#include "base/checksums/crc_parts.h"
#include "recovery/search/header_search.h"

namespace recordsmith {
namespace {

// A damaged header may be longer by up to kMostInserted bytes, or shorter by all its bytes: the number of places at
// which the data may begin.
constexpr std::size_t kDataBegins = kHeaderBytes + kMostInserted + 1;
// How many ends are tried with all of these places; the others only with the usual one, which takes one comparison.
constexpr int kEndsToTryThoroughly = 256;
// How many lengths are tried for one that has the stored CRC.
constexpr std::uint64_t kLengthsToTry = std::uint64_t{4} << 20;
constexpr std::uint64_t kLengthsOfLargest = 4;  // up to so many times the largest record so far

// Looks for the end of a record: four bytes before a sound header or the file's end, with the CRC of the data there.
class EndSearch {
 public:
  EndSearch(RecordWindows* windows, std::uint64_t begin)
      : window_(windows->ahead()), size_(windows->size()), begin_(begin), crc_end_(begin) {}

  // Of the headers, those up to `limit` are tried.
  Status find(std::uint64_t limit, std::optional<RepairedRecord>* repaired) {
    RECORDSMITH_RETURN_IF_ERROR(note_data_begins());
    for (;;) {
      RECORDSMITH_RETURN_IF_ERROR(look_at_crc_end());
      if (present_end_ - crc_end_ < kFooterBytes + kHeaderBytes) break;  // the end of the file
      const std::uint64_t last = std::min(present_end_ - kHeaderBytes, limit);
      *repaired = try_headers_up_to(last);
      if (repaired->has_value() || (last == limit && limit < size_)) return Status::ok();
      run_to(last + 1 - kFooterBytes);
    }
    // Few bytes are left, and all of them in the window.
    run_to(size_ - kFooterBytes);
    *repaired = try_end();
    return Status::ok();
  }

 private:
  // Takes the CRC of everything before each place at which the data may begin. Data behind a sound header is no
  // candidate: that is a record by itself, with something before it.
  Status note_data_begins() {
    RECORDSMITH_RETURN_IF_ERROR(window_.look(begin_, kDataBegins, &at_, &present_end_));
    places_ = static_cast<std::size_t>(std::min<std::uint64_t>(kDataBegins, present_end_ - begin_ + 1));
    for (std::size_t place = 0; place < places_; ++place) {
      std::uint64_t ignored = 0;
      if (place > 0) crc_before_[place] = crc32c(at_ + place - 1, 1, crc_before_[place - 1]);
      is_candidate_[place] = place < kHeaderBytes || !is_header(at_ + place - kHeaderBytes, &ignored);
    }
    return Status::ok();
  }

  // Some bytes before it too, for is_header_itself.
  Status look_at_crc_end() {
    const std::uint64_t behind = std::min<std::uint64_t>(kLengthBytes, crc_end_ - begin_);
    RECORDSMITH_RETURN_IF_ERROR(
        window_.look(crc_end_ - behind, behind + kFooterBytes + kHeaderBytes, &at_, &present_end_));
    at_ += behind;
    return Status::ok();
  }

  // All headers in the window up to `last`.
  std::optional<RepairedRecord> try_headers_up_to(std::uint64_t last) {
    const std::uint64_t first = crc_end_ + kFooterBytes;
    if (last < first) return std::nullopt;
    const std::uint8_t* const first_at = at_ + kFooterBytes;
    const std::uint8_t* const last_at = first_at + (last - first);
    std::uint64_t ignored = 0;
    for (const std::uint8_t* header = first_at; (header = next_header(header, last_at, &ignored)) != nullptr;
         ++header) {
      run_to(first + static_cast<std::uint64_t>(header - first_at) - kFooterBytes);
      if (const std::optional<RepairedRecord> repaired = try_end()) return repaired;
    }
    return std::nullopt;
  }

  // Takes both CRCs on to `place`, which is in the window.
  void run_to(std::uint64_t place) {
    const std::uint64_t data_begin = begin_ + kHeaderBytes;
    const auto size = static_cast<std::size_t>(place - crc_end_);
    crc_ = crc32c(at_, size, crc_);
    if (place > data_begin) {
      const auto skipped = static_cast<std::size_t>(crc_end_ < data_begin ? data_begin - crc_end_ : 0);
      data_crc_ = crc32c(at_ + skipped, size - skipped, data_crc_);
    }
    at_ += size;
    crc_end_ = place;
  }

  // The record whose data CRC is at crc_end_, if it is one.
  std::optional<RepairedRecord> try_end() {
    std::optional<std::size_t> place;
    if (is_of_usual_place()) {
      place = kHeaderBytes;
    } else if (tried_thoroughly_ < kEndsToTryThoroughly) {
      ++tried_thoroughly_;
      place = find_place();
    }
    if (!place.has_value()) return std::nullopt;
    const std::uint64_t data_begin = begin_ + *place;
    return RepairedRecord{begin_, data_begin, crc_end_ - data_begin};
  }

  // Whether the CRC at crc_end_ is that of the data behind twelve bytes.
  bool is_of_usual_place() const {
    return crc_end_ >= begin_ + kHeaderBytes && mask_crc(data_crc_) == load_u32(at_) && is_candidate_[kHeaderBytes] &&
           !is_header_itself(kHeaderBytes);
  }

  // The last place for which the CRC at crc_end_ is that of the data from there on.
  std::optional<std::size_t> find_place() const {
    const std::uint32_t stored = load_u32(at_);
    const std::uint64_t farthest = std::min<std::uint64_t>(places_ - 1, crc_end_ - begin_);
    std::uint32_t shift = crc_shift(crc_end_ - begin_ - farthest);
    for (std::size_t place = static_cast<std::size_t>(farthest) + 1; place-- > 0;) {
      if (is_candidate_[place] && mask_crc(crc_of_rest(crc_, crc_before_[place], shift)) == stored &&
          !is_header_itself(place)) {
        return place;
      }
      shift = crc_parts::multiply(shift, crc_parts::kPowers[3]);  // one byte more
    }
    return std::nullopt;
  }

  // Eight bytes and their CRC are what a header is, and stored records may follow right behind it.
  bool is_header_itself(std::size_t place) const {
    std::uint64_t ignored = 0;
    return crc_end_ - begin_ - place == kLengthBytes && is_header(at_ - kLengthBytes, &ignored);
  }

  static constexpr std::size_t kLengthBytes = kHeaderBytes - kFooterBytes;

  FileWindow& window_;
  const std::uint64_t size_;  // of the file
  const std::uint64_t begin_;
  // For each place at which the data may begin, counted from begin_.
  std::size_t places_ = 0;
  std::array<std::uint32_t, kDataBegins> crc_before_{};
  std::array<bool, kDataBegins> is_candidate_{};
  // Two CRCs run along: from begin_, of which those of all other parts can be made, and from where data should begin.
  std::uint32_t crc_ = 0;
  std::uint32_t data_crc_ = 0;
  std::uint64_t crc_end_;             // of both
  const std::uint8_t* at_ = nullptr;  // the byte at crc_end_
  std::uint64_t present_end_ = 0;     // of the bytes in the window
  int tried_thoroughly_ = 0;
};

// Repairs the record at `begin` if its data has that length.
Status repair_with_length(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t length,
                          std::optional<RepairedRecord>* repaired) {
  if (!progress->pay(length)) return Status::ok();
  std::uint32_t crc = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows->ahead().crc_of(begin + kHeaderBytes, length, &crc));
  const std::uint8_t* footer = nullptr;
  std::uint64_t ignored = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows->ahead().look(begin + kHeaderBytes + length, kFooterBytes, &footer, &ignored));
  if (mask_crc(crc) == load_u32(footer)) *repaired = RepairedRecord{begin, begin + kHeaderBytes, length};
  return Status::ok();
}

// The length is what it was and its CRC is not; or the other way round, and some length has that CRC.
Status repair_by_length(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin,
                        std::optional<RepairedRecord>* repaired) {
  if (windows->size() - begin < kFramingBytes) return Status::ok();
  const std::uint64_t longest = windows->size() - begin - kFramingBytes;
  const std::uint8_t* at = nullptr;
  std::uint64_t ignored = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows->ahead().look(begin, kHeaderBytes, &at, &ignored));
  const std::uint64_t stored_length = load_u64(at);
  const std::uint32_t stored_crc = load_u32(at + sizeof stored_length);
  if (stored_length <= longest) {
    RECORDSMITH_RETURN_IF_ERROR(repair_with_length(windows, progress, begin, stored_length, repaired));
    if (repaired->has_value()) return Status::ok();
  }
  const std::uint64_t largest = progress->largest();
  const std::uint64_t plausible = largest == 0 ? kLengthsToTry : std::min(kLengthsToTry, kLengthsOfLargest * largest);
  const std::uint64_t lengths = std::min(longest + 1, plausible);
  if (!progress->pay(lengths)) return Status::ok();
  for (std::uint64_t length = 0; length < lengths && !repaired->has_value(); ++length) {
    if (masked_crc32c(&length, sizeof length) != stored_crc) continue;
    RECORDSMITH_RETURN_IF_ERROR(repair_with_length(windows, progress, begin, length, repaired));
  }
  return Status::ok();
}

}  // namespace

Status repair_header(RecordWindows* windows, RecoveryProgress* progress, std::uint64_t begin, std::uint64_t next,
                     std::optional<RepairedRecord>* repaired) {
  repaired->reset();
  const std::uint64_t size = windows->size();
  if (size - begin < kFooterBytes) return Status::ok();
  const std::uint64_t ahead = progress->look_ahead();
  const std::uint64_t limit = std::max(next, ahead < size - begin ? begin + ahead : size);
  RECORDSMITH_RETURN_IF_ERROR(EndSearch(windows, begin).find(limit, repaired));
  if (!repaired->has_value()) {
    progress->spend(limit - std::max(begin, next));
    RECORDSMITH_RETURN_IF_ERROR(repair_by_length(windows, progress, begin, repaired));
  }
  // If another record is between them, the data found is not that of the one that begins here.
  if (repaired->has_value() && next != begin && next < (*repaired)->data_begin) repaired->reset();
  return Status::ok();
}

}  // namespace recordsmith
