#include "recovery/recovery.h"

#include <algorithm>
#include <cstring>

#include "base/checksums/crc32c.h"
#include "records/framing/framing.h"

namespace recordsmith {
namespace {

struct Run {
  const std::uint8_t* end;
  std::uint64_t records;
  std::uint64_t largest;  // framed size
};

// Walks over the sound records that are completely in [at, end).
Run run_of_sound_records(const std::uint8_t* at, const std::uint8_t* end) {
  Run run{at, 0, 0};
  while (static_cast<std::size_t>(end - run.end) >= kFramingBytes) {
    std::uint64_t length = 0;
    if (!read_header(run.end, &length) || length > static_cast<std::size_t>(end - run.end) - kFramingBytes) break;
    const std::uint8_t* const data = run.end + kHeaderBytes;
    __builtin_prefetch(data + length + kFooterBytes);
    if (masked_crc32c(data, length) != load_u32(data + length)) break;
    run.end = data + length + kFooterBytes;
    run.largest = std::max(run.largest, length + kFramingBytes);
    ++run.records;
  }
  return run;
}

Piece piece_of(PieceKind kind, std::uint64_t begin, std::uint64_t end, std::uint64_t records) {
  Piece piece;
  piece.kind = kind;
  piece.begin = begin;
  piece.end = end;
  piece.records = records;
  return piece;
}

}  // namespace

const char* piece_kind_name(PieceKind kind) {
  switch (kind) {
    case PieceKind::kSound:
      return "sound";
    case PieceKind::kRepaired:
      return "repaired";
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

// --- the walk ---

Status RecordRecovery::advance(std::uint64_t bytes, bool* done) {
  const std::uint64_t limit = bytes < size() - offset() ? offset() + bytes : size();
  while (offset() < limit) {
    const std::uint64_t before = offset();
    windows_.forget_before(before);
    RECORDSMITH_RETURN_IF_ERROR(pass_sound_records(limit));
    if (offset() < limit && offset() == before) RECORDSMITH_RETURN_IF_ERROR(pass_damage());
  }
  *done = offset() >= size();
  return Status::ok();
}

Status RecordRecovery::pass_sound_records(std::uint64_t limit) {
  const std::uint64_t begin = offset();
  std::uint64_t records = 0;
  while (offset() < limit) {
    const std::uint8_t* at = nullptr;
    std::uint64_t end = 0;
    RECORDSMITH_RETURN_IF_ERROR(windows_.walk().look(offset(), kFramingBytes, &at, &end));
    const Run run = run_of_sound_records(at, at + (end - offset()));
    records += run.records;
    progress_.met_record(run.largest);
    progress_.move_to(offset() + static_cast<std::uint64_t>(run.end - at));
    if (offset() >= limit) break;
    // A record that is longer than the window, or damage.
    Found found{};
    std::uint64_t record_end = 0;
    RECORDSMITH_RETURN_IF_ERROR(windows_.examine(&windows_.walk(), offset(), &found, &record_end));
    if (found != Found::kSound) break;
    ++records;
    progress_.met_record(record_end - offset());
    progress_.move_to(record_end);
  }
  if (records > 0) add(piece_of(PieceKind::kSound, begin, offset(), records));
  return Status::ok();
}

Status RecordRecovery::pass_damage() {
  RECORDSMITH_RETURN_IF_ERROR(learn());
  Found found{};
  std::uint64_t end = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.examine(&windows_.ahead(), offset(), &found, &end));
  if (found == Found::kBadHeader) return pass_bad_header();
  LostRecord record;
  record.begin = offset();
  record.header_is_sound = true;
  record.claimed = end - offset() - kFramingBytes;
  record.is_cut = found == Found::kCut;
  return record.is_cut ? pass_lost(record, kUnknown) : pass_bad_data(record);
}

Status RecordRecovery::pass_bad_header() {
  std::uint64_t next = 0;
  RECORDSMITH_RETURN_IF_ERROR(search_.find_acceptable(offset() + 1, &next));
  std::vector<RepairedRecord> repaired;
  RECORDSMITH_RETURN_IF_ERROR(repair(offset(), next, &repaired));
  if (repaired.empty()) {
    LostRecord lost;
    lost.begin = offset();
    return pass_lost(lost, next);
  }
  for (const RepairedRecord& record : repaired) {
    Piece piece = piece_of(PieceKind::kRepaired, record.begin, record.end(), 1);
    piece.data_begin = record.data_begin;
    piece.data_size = record.data_size;
    add(piece);
  }
  progress_.move_to(repaired.back().end());
  return Status::ok();
}

Status RecordRecovery::pass_bad_data(const LostRecord& record) {
  bool met = false;
  RECORDSMITH_RETURN_IF_ERROR(windows_.is_met(record.end(), &met));
  if (met) {
    std::uint64_t place = 0;
    RECORDSMITH_RETURN_IF_ERROR(search_.find_chain_to(record.begin + 1, record.end(), &place));
    if (place < record.end()) {
      RECORDSMITH_RETURN_IF_ERROR(add_lost(record.begin, place, true, record.claimed));
      progress_.move_to(place);
      return Status::ok();
    }
  } else {  // perhaps because the header there is damaged too
    std::vector<RepairedRecord> repaired;
    RECORDSMITH_RETURN_IF_ERROR(repair(record.end(), record.end(), &repaired));
    met = !repaired.empty() && repaired.front().is_in_place();
    if (!repaired.empty() && !met) progress_.spend(repaired.front().end() - record.end());
  }
  if (!met) return pass_lost(record, kUnknown);
  Piece piece = piece_of(PieceKind::kSuspect, record.begin, record.end(), 1);
  piece.data_begin = record.data_begin();
  piece.data_size = record.claimed;
  piece.header_is_sound = true;
  add(piece);
  progress_.move_to(piece.end);
  return Status::ok();
}

Status RecordRecovery::pass_lost(const LostRecord& lost, std::uint64_t next) {
  std::uint64_t lost_from = lost.begin;
  for (std::uint64_t from = lost.begin + 1;;) {
    std::uint64_t place = next;
    if (place < from || place == kUnknown) RECORDSMITH_RETURN_IF_ERROR(search_.find_acceptable(from, &place));
    bool belongs = place == size();
    Chain chain;
    if (!belongs) RECORDSMITH_RETURN_IF_ERROR(membership_.is_of_file(place, lost, &chain, &belongs));
    if (!belongs && chain.records == 0) {
      from = place + 1;
      continue;
    }
    const bool is_first = lost_from == lost.begin;
    RECORDSMITH_RETURN_IF_ERROR(
        add_lost(lost_from, place, is_first && lost.header_is_sound, is_first ? lost.claimed : 0));
    if (belongs) {
      progress_.move_to(place);
      return Status::ok();
    }
    add(piece_of(PieceKind::kDoubtful, place, chain.end, chain.records));
    lost_from = from = chain.end;
    progress_.move_to(chain.end);
  }
}

Status RecordRecovery::learn() {
  if (!pieces_.empty() && pieces_.back().kind == PieceKind::kSound) {
    RECORDSMITH_RETURN_IF_ERROR(membership_.learn_before_damage(pieces_.back().begin, pieces_.back().end));
  }
  return membership_.learn_end();
}

// The record that should begin at `begin`, and its neighbours, if they can be repaired and belong to the file.
Status RecordRecovery::repair(std::uint64_t begin, std::uint64_t next, std::vector<RepairedRecord>* repaired) {
  repaired->clear();
  const std::uint64_t limit = std::max(next, begin + progress_.look_ahead());
  std::optional<RepairedRecord> one;
  RECORDSMITH_RETURN_IF_ERROR(repair_header(&windows_, &progress_, begin, next, &one));
  bool belongs = false;
  if (one.has_value()) RECORDSMITH_RETURN_IF_ERROR(membership_.is_of_file(*one, &belongs));
  // Bytes that seem to be inserted before it may be whole records.
  if (!belongs || one->data_begin >= begin + kFramingBytes + kHeaderBytes) {
    RECORDSMITH_RETURN_IF_ERROR(repair_run(begin, limit, repaired));
    if (belongs && !repaired->empty() && repaired->back().end() < one->end()) repaired->clear();
  }
  if (belongs && repaired->empty()) repaired->push_back(*one);
  if (one.has_value() && !belongs) progress_.spend(one->end() - begin);
  return Status::ok();
}

Status RecordRecovery::repair_run(std::uint64_t begin, std::uint64_t limit, std::vector<RepairedRecord>* repaired) {
  ProvenRun run;
  RECORDSMITH_RETURN_IF_ERROR(find_proven_run(&windows_, &progress_, begin, limit, &run));
  for (const RepairedRecord& record : run.records) {
    const bool is_proven = run.is_met || record.end() != run.records.back().end();
    bool belongs = false;
    RECORDSMITH_RETURN_IF_ERROR(is_proven ? membership_.is_of_file(record, &belongs)
                                          : membership_.is_alike(record, &belongs));
    if (!belongs) break;
    repaired->push_back(record);
  }
  return Status::ok();
}

// --- results ---

void RecordRecovery::add(const Piece& piece) {
  if (piece.kind == PieceKind::kSound && !pieces_.empty() && pieces_.back().kind == PieceKind::kSound) {
    pieces_.back().end = piece.end;
    pieces_.back().records += piece.records;
  } else {
    pieces_.push_back(piece);
  }
}

Status RecordRecovery::add_lost(std::uint64_t begin, std::uint64_t end, bool header_is_sound, std::uint64_t claimed) {
  if (begin == end) return Status::ok();
  Piece piece = piece_of(PieceKind::kLost, begin, end, 0);
  piece.header_is_sound = header_is_sound;
  piece.data_size = claimed;
  RECORDSMITH_RETURN_IF_ERROR(longest_zeros(begin, end, &piece.longest_zeros));
  add(piece);
  return Status::ok();
}

Status RecordRecovery::longest_zeros(std::uint64_t begin, std::uint64_t end, std::uint64_t* longest) {
  *longest = 0;
  std::uint64_t zeros = 0;
  while (begin < end) {
    const std::uint8_t* at = nullptr;
    std::uint64_t present = 0;
    RECORDSMITH_RETURN_IF_ERROR(windows_.ahead().look(begin, 1, &at, &present));
    for (; begin < std::min(end, present); ++begin, ++at) {
      zeros = *at == 0 ? zeros + 1 : 0;
      *longest = std::max(*longest, zeros);
    }
  }
  return Status::ok();
}

Status RecordRecovery::changed_at(std::uint64_t offset) const {
  return Status::of(Code::kChanged, "").at(windows_.file().path(), offset, kUnknown);
}

Status RecordRecovery::read_frames(std::uint64_t begin, std::uint64_t end, std::size_t target_bytes, Buffer* frames,
                                   std::size_t* size) const {
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(windows_.has_header(begin, &length, &sound));
  if (!sound || end > windows_.size() || length > end - begin - kFramingBytes) return changed_at(begin);
  const std::uint64_t wanted = std::min(end - begin, std::max<std::uint64_t>(target_bytes, length + kFramingBytes));
  *frames = Buffer(static_cast<std::size_t>(wanted));
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.file().read_at(begin, frames->data(), static_cast<std::size_t>(wanted), &got));
  for (*size = 0; got - *size >= kFramingBytes;) {
    const std::uint8_t* const at = frames->data() + *size;
    if (!read_header(at, &length)) return changed_at(begin + *size);
    if (length > got - *size - kFramingBytes) break;
    RECORDSMITH_RETURN_IF_ERROR(
        compare_payload_crc(at + kHeaderBytes, static_cast<std::size_t>(length), load_u32(at + kHeaderBytes + length))
            .at(windows_.file().path(), begin + *size, kUnknown));
    *size += static_cast<std::size_t>(length) + kFramingBytes;
  }
  return *size > 0 ? Status::ok() : changed_at(begin);
}

Status RecordRecovery::frame(std::uint64_t data_begin, std::uint64_t data_size, Buffer* framed) const {
  if (data_begin > windows_.size() || data_size > windows_.size() - data_begin) return changed_at(data_begin);
  const auto size = static_cast<std::size_t>(data_size);
  *framed = Buffer(size + kFramingBytes);
  std::uint8_t* const data = framed->data() + kHeaderBytes;
  write_header(size, framed->data());
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.file().read_at(data_begin, data, size, &got));
  if (got < size) return truncated(windows_.file().path(), data_begin, kUnknown, got, size);
  const std::uint32_t crc = masked_crc32c(data, size);
  std::memcpy(data + size, &crc, sizeof crc);
  return Status::ok();
}

}  // namespace recordsmith
