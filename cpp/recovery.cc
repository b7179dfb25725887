#include "recovery.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "crc32c.h"
#include "crc_parts.h"
#include "example_wire.h"

namespace recordsmith {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{256} << 10;
// No record is that large. A lower bound than the cursor's, as a search meets all kinds of bytes.
constexpr std::uint64_t kLargestLength = std::uint64_t{1} << 40;

// What a look ahead may cost: this much from the start, and this much more for each byte of progress.
constexpr std::uint64_t kFirstCredit = std::uint64_t{64} << 20;
constexpr std::uint64_t kCreditPerByte = 8;
// How far to look for the end of a record with a damaged header, beyond the first place at which it may be.
constexpr std::uint64_t kLeastAhead = std::uint64_t{1} << 20;
constexpr std::uint64_t kAheadOfLargest = 16;  // times the largest record so far
// A damaged header may have become longer by so many bytes, or shorter by all that it has.
constexpr std::size_t kMostInserted = 64;
constexpr std::size_t kDataBegins = kHeaderBytes + kMostInserted + 1;  // how many places the data may begin at
constexpr int kEndsToTryThoroughly = 256;
constexpr std::uint64_t kLengthsToTry = std::uint64_t{4} << 20;

// How much of the sound records is looked at, to know what they are like.
constexpr std::uint64_t kRecordsToLearn = 512;
constexpr std::uint64_t kRecordsToLearnAtOnce = 32;
constexpr std::uint64_t kLargestToLearn = std::uint64_t{1} << 20;
constexpr std::uint64_t kEndToLearnFrom = std::uint64_t{4} << 20;

std::uint64_t load_u64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// As read_header, for bytes of which most are no header: few lengths are possible, and most of those are zero.
bool is_header(const std::uint8_t* at, std::uint64_t* length) {
  *length = load_u64(at);
  if (*length >= kLargestLength) return false;
  static const std::uint32_t crc_of_zero = [] {
    const std::uint64_t zero = 0;
    return masked_crc32c(&zero, sizeof zero);
  }();
  if (*length == 0) return load_u32(at + 8) == crc_of_zero;
  return read_header(at, length);
}

// The first sound header in [at, last]; null if there is none. The bytes of one at `last` must be readable.
const std::uint8_t* next_header(const std::uint8_t* at, const std::uint8_t* last, std::uint64_t* length) {
  while (at <= last) {
    // The highest byte of a length is zero, which few bytes of most data are.
    const void* const zero = std::memchr(at + 7, 0, static_cast<std::size_t>(last - at) + 1);
    if (zero == nullptr) return nullptr;
    at = static_cast<const std::uint8_t*>(zero) - 7;
    if (is_header(at, length)) return at;
    if (load_u64(at) != 0 || load_u32(at + 8) != 0) {
      ++at;
      continue;
    }
    // Zeros: the next header has something else among its twelve bytes, and this is the next place of that.
    const std::uint8_t* other = at + kHeaderBytes;
    const std::uint8_t* const end = last + kHeaderBytes;
    while (end - other >= 8 && load_u64(other) == 0) other += 8;
    while (other < end && *other == 0) ++other;
    at = other - (kHeaderBytes - 1);
  }
  return nullptr;
}

// Whether a sound record lies somewhere in these bytes.
bool holds_records(const std::uint8_t* data, std::size_t size) {
  if (size < kFramingBytes) return false;
  std::uint64_t length = 0;
  const std::uint8_t* const last = data + size - kFramingBytes;
  for (const std::uint8_t* at = data; (at = next_header(at, last, &length)) != nullptr; ++at) {
    const std::uint8_t* const inner = at + kHeaderBytes;
    if (length > static_cast<std::size_t>(last - at)) continue;
    if (masked_crc32c(inner, length) == load_u32(inner + length)) return true;
  }
  return false;
}

}  // namespace

const char* piece_kind_name(PieceKind kind) {
  switch (kind) {
    case PieceKind::kSound:
      return "sound";
    case PieceKind::kMended:
      return "mended";
    case PieceKind::kSuspect:
      return "suspect";
    case PieceKind::kDoubtful:
      return "doubtful";
    case PieceKind::kLost:
      break;
  }
  return "lost";
}

Status RecordRecovery::open(const std::string& path, std::unique_ptr<RecordRecovery>* recovery) {
  std::shared_ptr<File> file;
  RECORDSMITH_RETURN_IF_ERROR(File::open(path, &file));
  std::uint64_t size = 0;
  RECORDSMITH_RETURN_IF_ERROR(file->size(&size));
  recovery->reset(new RecordRecovery(std::move(file), size));
  return Status::ok();
}

RecordRecovery::RecordRecovery(std::shared_ptr<const File> file, std::uint64_t size)
    : file_(std::move(file)), size_(size) {
  walk_.bytes = Buffer(kWindowBytes + kPageSize);
  ahead_.bytes = Buffer(kWindowBytes + kPageSize);
}

// --- bytes ---

Status RecordRecovery::look(Window* window, std::uint64_t offset, std::size_t needed, const std::uint8_t** at,
                            std::uint64_t* end) const {
  needed = static_cast<std::size_t>(std::min<std::uint64_t>(needed, size_ - offset));
  if (offset < window->begin || offset + needed > window->begin + window->size) {
    window->begin = offset / kPageSize * kPageSize;
    const std::uint64_t wanted = std::min<std::uint64_t>(kWindowBytes + kPageSize, size_ - window->begin);
    RECORDSMITH_RETURN_IF_ERROR(
        file_->read_at(window->begin, window->bytes.data(), static_cast<std::size_t>(wanted), &window->size));
    if (window->size < wanted) {  // cut meanwhile
      const std::uint64_t present = window->begin + window->size;
      window->size = 0;
      return truncated(file_->path(), offset, kUnknown, present, size_);
    }
  }
  *at = window->bytes.data() + (offset - window->begin);
  *end = window->begin + window->size;
  return Status::ok();
}

Status RecordRecovery::crc_of(Window* window, std::uint64_t begin, std::uint64_t size, std::uint32_t* crc) const {
  *crc = 0;
  for (std::uint64_t left = size; left > 0;) {
    const std::uint8_t* at = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(look(window, begin, 1, &at, &end));
    const auto part = static_cast<std::size_t>(std::min(left, end - begin));
    *crc = crc32c(at, part, *crc);
    begin += part;
    left -= part;
  }
  return Status::ok();
}

Status RecordRecovery::has_header(std::uint64_t offset, std::uint64_t* length, bool* sound) const {
  *sound = false;
  if (offset > size_ || size_ - offset < kHeaderBytes) return Status::ok();
  std::array<std::uint8_t, kHeaderBytes> header;
  const std::uint8_t* at = header.data();
  if (offset >= walk_.begin && offset + kHeaderBytes <= walk_.begin + walk_.size) {
    at = walk_.bytes.data() + (offset - walk_.begin);
  } else {
    std::size_t got = 0;
    RECORDSMITH_RETURN_IF_ERROR(file_->read_at(offset, header.data(), kHeaderBytes, &got));
    if (got < kHeaderBytes) return Status::ok();
  }
  *sound = is_header(at, length);
  return Status::ok();
}

Status RecordRecovery::is_met(std::uint64_t offset, bool* met) const {
  std::uint64_t length = 0;
  *met = offset == size_;
  return *met ? Status::ok() : has_header(offset, &length, met);
}

bool RecordRecovery::pay(std::uint64_t bytes) {
  if (bytes > kFirstCredit + kCreditPerByte * offset_ - spent_) return false;
  spent_ += bytes;
  return true;
}

std::uint64_t RecordRecovery::look_ahead() const {
  const std::uint64_t wanted = largest_ == 0 ? kFirstCredit : std::max(kLeastAhead, kAheadOfLargest * largest_);
  return std::min(wanted, kFirstCredit + kCreditPerByte * offset_ - spent_);
}

// --- the walk ---

Status RecordRecovery::advance(std::uint64_t bytes, bool* done) {
  const std::uint64_t limit = bytes < size_ - offset_ ? offset_ + bytes : size_;
  while (offset_ < limit) {
    const std::uint64_t before = offset_;
    RECORDSMITH_RETURN_IF_ERROR(pass_sound_records(limit));
    if (offset_ < limit && offset_ == before) RECORDSMITH_RETURN_IF_ERROR(pass_damage());
  }
  *done = offset_ >= size_;
  return Status::ok();
}

Status RecordRecovery::pass_sound_records(std::uint64_t limit) {
  Piece piece;
  piece.kind = PieceKind::kSound;
  piece.begin = offset_;
  while (offset_ < limit) {
    const std::uint8_t* at = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(look(&walk_, offset_, kFramingBytes, &at, &end));
    const std::uint8_t* const first = at;
    const std::uint8_t* const stop = at + (end - offset_);
    while (static_cast<std::size_t>(stop - at) >= kFramingBytes) {
      std::uint64_t length = 0;
      if (!read_header(at, &length) || length > static_cast<std::size_t>(stop - at) - kFramingBytes) break;
      const std::uint8_t* const data = at + kHeaderBytes;
      __builtin_prefetch(data + length + kFooterBytes);
      if (masked_crc32c(data, length) != load_u32(data + length)) break;
      at = data + length + kFooterBytes;
      largest_ = std::max(largest_, length + kFramingBytes);
      ++piece.records;
    }
    offset_ += static_cast<std::uint64_t>(at - first);
    if (offset_ >= limit) break;
    // A record that goes beyond the window, or something wrong.
    Found found{};
    std::uint64_t record_end = 0;
    RECORDSMITH_RETURN_IF_ERROR(examine(&walk_, offset_, &found, &record_end));
    if (found != Found::kSound) break;
    largest_ = std::max(largest_, record_end - offset_);
    ++piece.records;
    offset_ = record_end;
  }
  piece.end = offset_;
  if (piece.records > 0) add(piece);
  return Status::ok();
}

Status RecordRecovery::examine(Window* window, std::uint64_t offset, Found* found, std::uint64_t* end) const {
  *found = Found::kBadHeader;
  *end = size_;
  if (size_ - offset < kHeaderBytes) return Status::ok();
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(has_header(offset, &length, &sound));
  if (!sound) return Status::ok();
  *end = offset + kFramingBytes + length;
  if (*end > size_) {
    *found = Found::kCut;
    return Status::ok();
  }
  std::uint32_t crc = 0;
  RECORDSMITH_RETURN_IF_ERROR(crc_of(window, offset + kHeaderBytes, length, &crc));
  std::array<std::uint8_t, kFooterBytes> footer;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(*end - kFooterBytes, footer.data(), kFooterBytes, &got));
  *found = got == kFooterBytes && mask_crc(crc) == load_u32(footer.data()) ? Found::kSound : Found::kBadData;
  return Status::ok();
}

Status RecordRecovery::pass_damage() {
  RECORDSMITH_RETURN_IF_ERROR(learn());
  Found found{};
  std::uint64_t end = 0;
  const std::uint64_t begin = offset_;
  RECORDSMITH_RETURN_IF_ERROR(examine(&ahead_, begin, &found, &end));
  if (found == Found::kBadHeader) {
    std::uint64_t next = 0;
    RECORDSMITH_RETURN_IF_ERROR(find_believable(begin + 1, &next));
    std::optional<Piece> mended;
    RECORDSMITH_RETURN_IF_ERROR(mend(begin, next, &mended));
    if (mended.has_value()) {
      add(*mended);
      offset_ = mended->end;
      return Status::ok();
    }
    return pass_lost({false, false, begin, 0, next});
  }
  const std::uint64_t claimed = end - begin - kFramingBytes;
  if (found == Found::kCut) return pass_lost({true, true, begin, claimed, kUnknown});

  bool met = false;
  RECORDSMITH_RETURN_IF_ERROR(is_met(end, &met));
  if (met) {
    std::uint64_t place = 0;
    RECORDSMITH_RETURN_IF_ERROR(find_chain_to(end, &place));
    if (place < end) {
      RECORDSMITH_RETURN_IF_ERROR(add_lost(begin, place, true, claimed));
      offset_ = place;
      return Status::ok();
    }
  } else {  // perhaps because the header there is damaged too
    std::optional<Piece> mended;
    RECORDSMITH_RETURN_IF_ERROR(mend(end, end, &mended));
    met = mended.has_value() && mended->data_begin == end + kHeaderBytes;
  }
  if (!met) return pass_lost({true, false, begin, claimed, kUnknown});
  Piece piece;
  piece.kind = PieceKind::kSuspect;
  piece.begin = begin;
  piece.end = end;
  piece.records = 1;
  piece.data_begin = begin + kHeaderBytes;
  piece.data_size = claimed;
  piece.header_is_sound = true;
  add(piece);
  offset_ = end;
  return Status::ok();
}

Status RecordRecovery::pass_lost(const Lost& lost) {
  std::uint64_t lost_from = lost.begin;
  for (std::uint64_t from = lost.begin + 1;;) {
    std::uint64_t place = lost.next;
    if (place < from || place == kUnknown) RECORDSMITH_RETURN_IF_ERROR(find_believable(from, &place));
    bool belongs = place == size_;
    Chain chain{};
    if (!belongs) RECORDSMITH_RETURN_IF_ERROR(belongs_to_file(place, lost, &chain, &belongs));
    if (!belongs && chain.records == 0) {
      from = place + 1;
      continue;
    }
    const bool is_first = lost_from == lost.begin;
    RECORDSMITH_RETURN_IF_ERROR(
        add_lost(lost_from, place, is_first && lost.header_is_sound, is_first ? lost.claimed : 0));
    if (belongs) {
      offset_ = place;
      return Status::ok();
    }
    Piece piece;
    piece.kind = PieceKind::kDoubtful;
    piece.begin = place;
    piece.end = chain.end;
    piece.records = chain.records;
    add(piece);
    lost_from = from = chain.end;
  }
}

// The first place behind the record at hand from which sound records lead to `end` or across it; `end` itself if there
// is none.
Status RecordRecovery::find_chain_to(std::uint64_t end, std::uint64_t* place) {
  for (std::uint64_t from = offset_ + 1;;) {
    RECORDSMITH_RETURN_IF_ERROR(find_believable(from, place));
    if (*place >= end) break;
    Chain chain{};
    RECORDSMITH_RETURN_IF_ERROR(follow(*place, end, &chain));
    if (chain.end >= end) return Status::ok();
    from = std::max(*place + 1, chain.end);
  }
  *place = end;
  return Status::ok();
}

Status RecordRecovery::find_believable(std::uint64_t from, std::uint64_t* place) {
  for (std::uint64_t offset = from; size_ >= kFramingBytes && offset <= size_ - kFramingBytes;) {
    const std::uint8_t* at = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(look(&walk_, offset, kHeaderBytes, &at, &end));
    const std::uint64_t last = std::min(end - kHeaderBytes, size_ - kFramingBytes);
    const std::uint8_t* const first = at;
    const std::uint64_t first_offset = offset;
    std::uint64_t length = 0;
    for (; (at = next_header(at, first + (last - first_offset), &length)) != nullptr; ++at) {
      offset = first_offset + static_cast<std::uint64_t>(at - first);
      if (length > size_ - offset - kFramingBytes) continue;
      const std::uint64_t record_end = offset + kFramingBytes + length;
      bool believed = false;
      RECORDSMITH_RETURN_IF_ERROR(is_met(record_end, &believed));
      if (!believed && pay(length)) {
        Found found{};
        std::uint64_t ignored = 0;
        RECORDSMITH_RETURN_IF_ERROR(examine(&ahead_, offset, &found, &ignored));
        believed = found == Found::kSound;
      }
      if (believed) {
        *place = offset;
        return Status::ok();
      }
    }
    offset = last + 1;
  }
  *place = size_;
  return Status::ok();
}

// --- damaged headers ---

Status RecordRecovery::mend(std::uint64_t begin, std::uint64_t next, std::optional<Piece>* mended) {
  mended->reset();
  if (size_ - begin < kFooterBytes) return Status::ok();
  const std::uint64_t ahead = look_ahead();
  const std::uint64_t limit = std::max(next, ahead < size_ - begin ? begin + ahead : size_);
  RECORDSMITH_RETURN_IF_ERROR(mend_by_end(begin, limit, mended));
  if (!mended->has_value()) {
    spent_ += limit - std::max(begin, std::min(next, limit));
    RECORDSMITH_RETURN_IF_ERROR(mend_by_length(begin, mended));
  }
  // Where another record lies between, the data found is not that of the one that begins here.
  bool belongs = !mended->has_value() || next >= (*mended)->data_begin || next == begin;
  if (mended->has_value() && belongs) RECORDSMITH_RETURN_IF_ERROR(is_of_file(**mended, &belongs));
  if (!belongs) mended->reset();
  return Status::ok();
}

// The data begins at one of some places behind `begin`, and ends four bytes before a sound header or the file's end.
Status RecordRecovery::mend_by_end(std::uint64_t begin, std::uint64_t limit, std::optional<Piece>* mended) {
  // The CRC of what lies before each place at which the data may begin. Data behind a sound header is no candidate:
  // that is a record by itself, with something before it.
  std::array<std::uint32_t, kDataBegins> crc_before{};
  std::array<bool, kDataBegins> is_candidate{};
  const std::uint8_t* at = nullptr;
  std::uint64_t end = 0;
  RECORDSMITH_RETURN_IF_ERROR(look(&ahead_, begin, kDataBegins, &at, &end));
  const std::size_t places = static_cast<std::size_t>(std::min<std::uint64_t>(kDataBegins, end - begin + 1));
  for (std::size_t place = 0; place < places; ++place) {
    std::uint64_t ignored = 0;
    if (place > 0) crc_before[place] = crc32c(at + place - 1, 1, crc_before[place - 1]);
    is_candidate[place] = place < kHeaderBytes || !is_header(at + place - kHeaderBytes, &ignored);
  }

  // Two CRCs run along: from `begin`, of which those of all other parts can be made, and from where data should begin.
  std::uint32_t crc = 0;
  std::uint32_t data_crc = 0;
  std::uint64_t crc_end = begin;
  int thorough = 0;
  const auto run_to = [&](std::uint64_t place) {
    const std::uint64_t data_begin = begin + kHeaderBytes;
    const auto size = static_cast<std::size_t>(place - crc_end);
    crc = crc32c(at, size, crc);
    if (place > data_begin) {
      const auto skipped = static_cast<std::size_t>(crc_end < data_begin ? data_begin - crc_end : 0);
      data_crc = crc32c(at + skipped, size - skipped, data_crc);
    }
    at += size;
    crc_end = place;
  };
  // Whether a record that ends at crc_end + 4 has its data between there and one of the places.
  const auto try_end = [&]() -> bool {
    const std::uint32_t stored = load_u32(at);
    std::optional<std::size_t> found;
    // Eight bytes and their CRC are what a header is, and stored records may follow right behind it.
    const auto is_header_itself = [&](std::size_t place) {
      std::uint64_t ignored = 0;
      return crc_end - begin - place == kHeaderBytes - kFooterBytes && is_header(at - 8, &ignored);
    };
    if (crc_end >= begin + kHeaderBytes && mask_crc(data_crc) == stored && is_candidate[kHeaderBytes] &&
        !is_header_itself(kHeaderBytes)) {
      found = kHeaderBytes;
    } else if (thorough < kEndsToTryThoroughly) {
      ++thorough;
      const std::uint64_t farthest = std::min<std::uint64_t>(places - 1, crc_end - begin);
      std::uint32_t shift = crc_shift(crc_end - begin - farthest);
      for (std::size_t place = static_cast<std::size_t>(farthest) + 1; place-- > 0;) {
        if (is_candidate[place] && mask_crc(crc_of_rest(crc, crc_before[place], shift)) == stored &&
            !is_header_itself(place)) {
          found = place;
          break;
        }
        shift = crc_parts::multiply(shift, crc_parts::kPowers[3]);  // one byte more
      }
    }
    if (!found.has_value()) return false;
    Piece piece;
    piece.kind = PieceKind::kMended;
    piece.begin = begin;
    piece.end = crc_end + kFooterBytes;
    piece.records = 1;
    piece.data_begin = begin + *found;
    piece.data_size = crc_end - piece.data_begin;
    *mended = piece;
    return true;
  };

  for (;;) {
    const auto behind = static_cast<std::size_t>(std::min<std::uint64_t>(8, crc_end - begin));  // try_end looks back
    RECORDSMITH_RETURN_IF_ERROR(look(&ahead_, crc_end - behind, behind + kFooterBytes + kHeaderBytes, &at, &end));
    at += behind;
    if (end - crc_end < kFooterBytes + kHeaderBytes) break;  // the end of the file
    std::uint64_t place = crc_end + kFooterBytes;
    const std::uint64_t last = std::min(end - kHeaderBytes, limit);
    const std::uint8_t* const first = at + kFooterBytes;
    const std::uint64_t first_place = place;
    std::uint64_t ignored = 0;
    for (const std::uint8_t* candidate = first; place <= last; ++candidate) {
      candidate = next_header(candidate, first + (last - first_place), &ignored);
      if (candidate == nullptr) break;
      place = first_place + static_cast<std::uint64_t>(candidate - first);
      run_to(place - kFooterBytes);
      if (try_end()) return Status::ok();
    }
    place = last + 1;
    if (place > limit && limit < size_) return Status::ok();
    run_to(place - kFooterBytes);
  }
  // Few bytes are left, and all of them in the window.
  run_to(size_ - kFooterBytes);
  try_end();
  return Status::ok();
}

// The length is what it was and its CRC is not; or the other way round, and some length has that CRC.
Status RecordRecovery::mend_by_length(std::uint64_t begin, std::optional<Piece>* mended) {
  if (size_ - begin < kFramingBytes) return Status::ok();
  const std::uint64_t longest = size_ - begin - kFramingBytes;
  const std::uint8_t* at = nullptr;
  std::uint64_t ignored = 0;
  RECORDSMITH_RETURN_IF_ERROR(look(&ahead_, begin, kHeaderBytes, &at, &ignored));
  const std::uint64_t stored_length = load_u64(at);
  const std::uint32_t stored_crc = load_u32(at + 8);
  const auto try_length = [&](std::uint64_t length) -> Status {
    if (!pay(length)) return Status::ok();
    std::uint32_t crc = 0;
    RECORDSMITH_RETURN_IF_ERROR(crc_of(&ahead_, begin + kHeaderBytes, length, &crc));
    const std::uint64_t footer = begin + kHeaderBytes + length;
    RECORDSMITH_RETURN_IF_ERROR(look(&ahead_, footer, kFooterBytes, &at, &ignored));
    if (mask_crc(crc) != load_u32(at)) return Status::ok();
    Piece piece;
    piece.kind = PieceKind::kMended;
    piece.begin = begin;
    piece.end = footer + kFooterBytes;
    piece.records = 1;
    piece.data_begin = begin + kHeaderBytes;
    piece.data_size = length;
    *mended = piece;
    return Status::ok();
  };
  if (stored_length <= longest) RECORDSMITH_RETURN_IF_ERROR(try_length(stored_length));
  if (mended->has_value()) return Status::ok();
  const std::uint64_t plausible = largest_ == 0 ? kLengthsToTry : std::min(kLengthsToTry, 4 * largest_);
  const std::uint64_t lengths = std::min(longest + 1, plausible);
  if (!pay(lengths)) return Status::ok();
  for (std::uint64_t length = 0; length < lengths; ++length) {
    if (masked_crc32c(&length, sizeof length) != stored_crc) continue;
    RECORDSMITH_RETURN_IF_ERROR(try_length(length));
    if (mended->has_value()) break;
  }
  return Status::ok();
}

// The header may also have been one of a stored record, if the same damage hit the outer one's.
Status RecordRecovery::is_of_file(const Piece& mended, bool* belongs) {
  Likeness likeness{};
  RECORDSMITH_RETURN_IF_ERROR(compare_data(mended.data_begin, mended.data_size, &likeness));
  *belongs = likeness == Likeness::kAlike;
  if (*belongs) return Status::ok();
  const std::uint64_t far = mended.end + look_ahead();
  Chain chain{};
  RECORDSMITH_RETURN_IF_ERROR(follow(mended.end, far, &chain));
  spent_ += std::min(chain.end, far) - mended.end;
  const bool is_in_place = mended.data_begin == mended.begin + kHeaderBytes;
  *belongs =
      chain.reaches_end || chain.end >= far || (is_in_place && likeness == Likeness::kUnclear && !has_nested_records_);
  return Status::ok();
}

// --- records inside of records ---

Status RecordRecovery::belongs_to_file(std::uint64_t place, const Lost& lost, Chain* chain, bool* belongs) {
  Likeness likeness{};
  RECORDSMITH_RETURN_IF_ERROR(compare(place, &likeness));
  *belongs = likeness == Likeness::kAlike;
  if (*belongs) return Status::ok();
  bool is_suspicious = likeness == Likeness::kUnlike || has_nested_records_ ||
                       (lost.header_is_sound && place == lost.begin + kHeaderBytes);
  *belongs = !is_suspicious && !lost.header_is_sound;
  if (*belongs) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(follow(place, kUnknown, chain));
  if (lost.is_cut) {
    const bool is_inside = likeness == Likeness::kUnlike || place == lost.begin + kHeaderBytes;
    *belongs = chain->has_alike || (chain->reaches_end && !is_inside);
    return Status::ok();
  }
  if (!is_suspicious) RECORDSMITH_RETURN_IF_ERROR(ends_nearby(lost, *chain, &is_suspicious));
  *belongs = !is_suspicious || chain->has_alike || chain->reaches_end ||
             chain->end - place > std::max(kLeastAhead, kAheadOfLargest * largest_);
  return Status::ok();
}

// Whether a record begins a few bytes off the place where the lost one should have ended, behind the chain and not at
// its end: then these few bytes were put in or removed, and the chain lies inside.
Status RecordRecovery::ends_nearby(const Lost& lost, const Chain& chain, bool* nearby) {
  const std::uint64_t end = lost.begin + kFramingBytes + lost.claimed;
  const std::uint64_t few = std::min<std::uint64_t>(kMostInserted, lost.claimed / 2);
  *nearby = false;
  for (std::uint64_t place = std::max(chain.end + kFooterBytes, end - few);
       place <= end + few && place <= size_ && !*nearby; ++place) {
    RECORDSMITH_RETURN_IF_ERROR(is_met(place, nearby));
  }
  return Status::ok();
}

Status RecordRecovery::follow(std::uint64_t begin, std::uint64_t limit, Chain* chain) {
  *chain = {begin, 0, begin == size_, false};
  while (chain->end < limit && !chain->reaches_end) {
    Found found{};
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(examine(&ahead_, chain->end, &found, &end));
    if (found != Found::kSound) break;
    if (limit == kUnknown && chain->records < kRecordsToLearnAtOnce) {
      Likeness likeness{};
      RECORDSMITH_RETURN_IF_ERROR(compare(chain->end, &likeness));
      if (likeness == Likeness::kAlike) chain->has_alike = true;
      if (chain->has_alike) break;
    }
    chain->end = end;
    chain->reaches_end = end == size_;
    ++chain->records;
  }
  return Status::ok();
}

// Looks at some records of the last sound piece, and once at those before the end of the file, which belong to the file
// because they lead there.
Status RecordRecovery::learn() {
  if (!pieces_.empty() && pieces_.size() != pieces_learned_ && records_learned_ < kRecordsToLearn) {
    pieces_learned_ = pieces_.size();
    const Piece& piece = pieces_.back();
    if (piece.kind == PieceKind::kSound) RECORDSMITH_RETURN_IF_ERROR(learn_from(piece.begin, piece.end));
  }
  if (end_is_learned_) return Status::ok();
  end_is_learned_ = true;
  for (std::uint64_t from = std::max(offset_ + 1, size_ - std::min(size_, kEndToLearnFrom)); from < size_;) {
    std::uint64_t place = 0;
    RECORDSMITH_RETURN_IF_ERROR(find_believable(from, &place));
    if (place == size_) break;
    Chain chain{};
    RECORDSMITH_RETURN_IF_ERROR(follow(place, size_, &chain));
    if (chain.end == size_) {
      // What cut-off data holds may end there, too: of features, those before know better.
      const auto keys = keys_;
      RECORDSMITH_RETURN_IF_ERROR(learn_from(place, size_));
      if (!keys.empty()) keys_ = keys;
      return Status::ok();
    }
    from = std::max(place + 1, chain.end);
  }
  return Status::ok();
}

Status RecordRecovery::learn_from(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = 0; i < kRecordsToLearnAtOnce && begin < end; ++i) {
    std::uint64_t length = 0;
    bool sound = false;
    RECORDSMITH_RETURN_IF_ERROR(has_header(begin, &length, &sound));
    if (!sound) break;  // changed meanwhile; whoever copies it will tell
    if (length <= kLargestToLearn) {
      const Buffer payload(static_cast<std::size_t>(length) + 1);
      std::size_t got = 0;
      RECORDSMITH_RETURN_IF_ERROR(
          file_->read_at(begin + kHeaderBytes, payload.data(), static_cast<std::size_t>(length), &got));
      learn_payload(payload.data(), got);
    }
    ++records_learned_;
    begin += kFramingBytes + length;
  }
  return Status::ok();
}

void RecordRecovery::learn_payload(const std::uint8_t* payload, std::size_t size) {
  WireFeatures features;
  if (parse_example(payload, size, &features).is_ok()) {
    for (const auto& entry : features.entries()) keys_.emplace(entry.key);
  }
  has_nested_records_ = has_nested_records_ || holds_records(payload, size);
}

RecordRecovery::Likeness RecordRecovery::compare_payload(const std::uint8_t* payload, std::size_t size) const {
  WireFeatures features;
  if (!keys_.empty() && parse_example(payload, size, &features).is_ok() && !features.entries().empty()) {
    std::size_t known = 0;
    for (const auto& entry : features.entries()) known += keys_.contains(std::string(entry.key)) ? 1 : 0;
    if (known == 0) return Likeness::kUnlike;
    if (2 * known >= features.entries().size()) return Likeness::kAlike;
  }
  return has_nested_records_ && holds_records(payload, size) ? Likeness::kAlike : Likeness::kUnclear;
}

Status RecordRecovery::compare_data(std::uint64_t begin, std::uint64_t size, Likeness* likeness) const {
  *likeness = Likeness::kUnclear;
  if ((keys_.empty() && !has_nested_records_) || size > kLargestToLearn) return Status::ok();
  const Buffer payload(static_cast<std::size_t>(size) + 1);
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(begin, payload.data(), static_cast<std::size_t>(size), &got));
  *likeness = compare_payload(payload.data(), got);
  return Status::ok();
}

Status RecordRecovery::compare(std::uint64_t place, Likeness* likeness) const {
  *likeness = Likeness::kUnclear;
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(has_header(place, &length, &sound));
  return sound ? compare_data(place + kHeaderBytes, length, likeness) : Status::ok();
}

// --- what came of it ---

void RecordRecovery::add(Piece piece) {
  if (piece.kind == PieceKind::kSound && !pieces_.empty() && pieces_.back().kind == PieceKind::kSound) {
    pieces_.back().end = piece.end;
    pieces_.back().records += piece.records;
  } else {
    pieces_.push_back(piece);
  }
}

Status RecordRecovery::add_lost(std::uint64_t begin, std::uint64_t end, bool header_is_sound, std::uint64_t claimed) {
  if (begin == end) return Status::ok();
  Piece piece;
  piece.begin = begin;
  piece.end = end;
  piece.header_is_sound = header_is_sound;
  piece.data_size = claimed;
  std::uint64_t zeros = 0;
  while (begin < end) {
    const std::uint8_t* at = nullptr;
    std::uint64_t present = 0;
    RECORDSMITH_RETURN_IF_ERROR(look(&ahead_, begin, 1, &at, &present));
    for (; begin < std::min(end, present); ++begin, ++at) {
      zeros = *at == 0 ? zeros + 1 : 0;
      piece.longest_zeros = std::max(piece.longest_zeros, zeros);
    }
  }
  add(piece);
  return Status::ok();
}

Status RecordRecovery::read_frames(std::uint64_t begin, std::uint64_t end, std::size_t target_bytes, Buffer* frames,
                                   std::size_t* size) const {
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(has_header(begin, &length, &sound));
  if (!sound || end > size_ || length > end - begin - kFramingBytes) {
    return Status::of(Code::kChanged, "").at(file_->path(), begin, kUnknown);
  }
  const std::uint64_t wanted = std::min(end - begin, std::max<std::uint64_t>(target_bytes, length + kFramingBytes));
  *frames = Buffer(static_cast<std::size_t>(wanted));
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(begin, frames->data(), static_cast<std::size_t>(wanted), &got));
  for (*size = 0; got - *size >= kFramingBytes;) {
    const std::uint8_t* const at = frames->data() + *size;
    if (!read_header(at, &length)) return Status::of(Code::kChanged, "").at(file_->path(), begin + *size, kUnknown);
    if (length > got - *size - kFramingBytes) break;
    RECORDSMITH_RETURN_IF_ERROR(
        compare_payload_crc(at + kHeaderBytes, static_cast<std::size_t>(length), load_u32(at + kHeaderBytes + length))
            .at(file_->path(), begin + *size, kUnknown));
    *size += static_cast<std::size_t>(length) + kFramingBytes;
  }
  return *size > 0 ? Status::ok() : Status::of(Code::kChanged, "").at(file_->path(), begin, kUnknown);
}

Status RecordRecovery::frame(std::uint64_t data_begin, std::uint64_t data_size, Buffer* framed) const {
  if (data_begin > size_ || data_size > size_ - data_begin) {
    return Status::of(Code::kChanged, "").at(file_->path(), data_begin, kUnknown);
  }
  const auto size = static_cast<std::size_t>(data_size);
  *framed = Buffer(size + kFramingBytes);
  std::uint8_t* const data = framed->data() + kHeaderBytes;
  write_header(size, framed->data());
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(file_->read_at(data_begin, data, size, &got));
  if (got < size) return truncated(file_->path(), data_begin, kUnknown, got, size);
  const std::uint32_t crc = masked_crc32c(data, size);
  std::memcpy(data + size, &crc, sizeof crc);
  return Status::ok();
}

}  // namespace recordsmith
