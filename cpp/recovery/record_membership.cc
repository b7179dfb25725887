#include "recovery/record_membership.h"

#include <algorithm>
#include <array>

#include "recovery/search/header_search.h"

namespace recordsmith {
namespace {

// How much of the sound records is looked at, to know what they are like.
constexpr std::uint64_t kRecordsToLearn = 512;
constexpr std::uint64_t kRecordsToLearnAtOnce = 32;
constexpr std::uint64_t kLargestToLearn = std::uint64_t{1} << 20;
constexpr std::uint64_t kEndToLearnFrom = std::uint64_t{4} << 20;
// How many records of a chain are compared with the known ones.
constexpr std::uint64_t kRecordsToCompare = 32;

}  // namespace

// --- what the records of the file are like ---

Status RecordMembership::learn_before_damage(std::uint64_t begin, std::uint64_t end) {
  return records_learned_ < kRecordsToLearn ? learn(begin, end, RecordLikeness::Learn::kAll) : Status::ok();
}

Status RecordMembership::learn_end() {
  if (end_is_learned_) return Status::ok();
  end_is_learned_ = true;
  const std::uint64_t size = windows_.size();
  for (std::uint64_t from = std::max(progress_.offset() + 1, size - std::min(size, kEndToLearnFrom)); from < size;) {
    std::uint64_t place = 0;
    RECORDSMITH_RETURN_IF_ERROR(search_.find_acceptable(from, &place));
    if (place == size) break;
    Chain chain;
    RECORDSMITH_RETURN_IF_ERROR(search_.follow(place, size, &chain));
    if (chain.reaches_end) {
      // What cut-off data holds may end there, too: of features, those before know better.
      return learn(place, size,
                   likeness_.knows_features() ? RecordLikeness::Learn::kAllButFeatures : RecordLikeness::Learn::kAll);
    }
    from = std::max(place + 1, chain.end);
  }
  return Status::ok();
}

Status RecordMembership::learn(std::uint64_t begin, std::uint64_t end, RecordLikeness::Learn what) {
  for (std::uint64_t i = 0; i < kRecordsToLearnAtOnce && begin < end; ++i) {
    std::uint64_t length = 0;
    bool sound = false;
    RECORDSMITH_RETURN_IF_ERROR(windows_.has_header(begin, &length, &sound));
    if (!sound) break;  // changed meanwhile; copying it will report that
    if (length <= kLargestToLearn) {
      Buffer payload;
      std::size_t got = 0;
      RECORDSMITH_RETURN_IF_ERROR(read(begin + kHeaderBytes, length, &payload, &got));
      likeness_.learn(payload.data(), got, what);
    }
    ++records_learned_;
    begin += kFramingBytes + length;
  }
  return Status::ok();
}

Status RecordMembership::compare(std::uint64_t place, Likeness* likeness) {
  *likeness = Likeness::kUnclear;
  std::uint64_t length = 0;
  bool sound = false;
  RECORDSMITH_RETURN_IF_ERROR(windows_.has_header(place, &length, &sound));
  return sound ? compare_data(place + kHeaderBytes, length, likeness) : Status::ok();
}

Status RecordMembership::compare_data(std::uint64_t begin, std::uint64_t size, Likeness* likeness) {
  *likeness = Likeness::kUnclear;
  if (!likeness_.can_compare() || size > kLargestToLearn || !progress_.pay(size)) return Status::ok();
  Buffer payload;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(read(begin, size, &payload, &got));
  *likeness = likeness_.compare(payload.data(), got);
  return Status::ok();
}

Status RecordMembership::read(std::uint64_t begin, std::uint64_t size, Buffer* payload, std::size_t* got) const {
  *payload = Buffer(static_cast<std::size_t>(size) + 1);  // not without any memory, for an empty one
  return windows_.file().read_at(begin, payload->data(), static_cast<std::size_t>(size), got);
}

// --- whether a record belongs to it ---

Status RecordMembership::is_of_file(std::uint64_t place, const LostRecord& lost, Chain* chain, bool* belongs) {
  Likeness likeness{};
  RECORDSMITH_RETURN_IF_ERROR(compare(place, &likeness));
  *belongs = likeness == Likeness::kAlike;
  if (*belongs) return Status::ok();
  const bool begins_data = place == lost.data_begin();
  bool is_suspicious =
      likeness == Likeness::kUnlike || likeness_.has_nested_records() || (lost.header_is_sound && begins_data);
  *belongs = !is_suspicious && !lost.header_is_sound;
  if (*belongs) return Status::ok();
  RECORDSMITH_RETURN_IF_ERROR(follow_to_alike(place, chain, belongs));
  if (*belongs) return Status::ok();
  if (lost.is_cut) {
    *belongs = chain->reaches_end && likeness != Likeness::kUnlike && !begins_data;
    return Status::ok();
  }
  if (!is_suspicious) RECORDSMITH_RETURN_IF_ERROR(ends_nearby(lost, *chain, &is_suspicious));
  *belongs = !is_suspicious || chain->reaches_end || chain->end - place > progress_.space_of_record();
  return Status::ok();
}

Status RecordMembership::is_alike(const RepairedRecord& repaired, bool* alike) {
  Likeness likeness{};
  RECORDSMITH_RETURN_IF_ERROR(compare_data(repaired.data_begin, repaired.data_size, &likeness));
  *alike = likeness == Likeness::kAlike;
  return Status::ok();
}

Status RecordMembership::is_of_file(const RepairedRecord& repaired, bool* belongs) {
  Likeness likeness{};
  RECORDSMITH_RETURN_IF_ERROR(compare_data(repaired.data_begin, repaired.data_size, &likeness));
  *belongs = likeness == Likeness::kAlike;
  if (*belongs) return Status::ok();
  const std::uint64_t far = repaired.end() + progress_.look_ahead();
  Chain chain;
  RECORDSMITH_RETURN_IF_ERROR(search_.follow(repaired.end(), far, &chain));
  progress_.spend(std::min(chain.end, far) - repaired.end());
  *belongs = chain.reaches_end || chain.end >= far ||
             (repaired.is_in_place() && likeness == Likeness::kUnclear && !likeness_.has_nested_records());
  return Status::ok();
}

// Follows the sound records up to the first that is like the known ones.
Status RecordMembership::follow_to_alike(std::uint64_t begin, Chain* chain, bool* has_alike) {
  *chain = search_.chain_at(begin);
  *has_alike = false;
  for (;;) {
    const std::uint64_t place = chain->end;
    bool extended = false;
    RECORDSMITH_RETURN_IF_ERROR(search_.extend(chain, &extended));
    if (!extended) return Status::ok();
    if (chain->records > kRecordsToCompare) continue;
    Likeness likeness{};
    RECORDSMITH_RETURN_IF_ERROR(compare(place, &likeness));
    *has_alike = likeness == Likeness::kAlike;
    if (*has_alike) return Status::ok();
  }
}

// Whether a record begins a few bytes off the place where the lost one should have ended, behind the chain and not at
// its end: then these few bytes were inserted or removed, and the chain is inside.
Status RecordMembership::ends_nearby(const LostRecord& lost, const Chain& chain, bool* nearby) const {
  const std::uint64_t few = std::min(kMostInserted, lost.claimed / 2);
  const std::uint64_t first = std::max(chain.end + kFooterBytes, lost.end() - few);
  const std::uint64_t last = std::min(lost.end() + few, windows_.size());
  *nearby = first <= last && last == windows_.size();
  if (first > last || *nearby) return Status::ok();
  std::array<std::uint8_t, 2 * kMostInserted + kHeaderBytes> bytes;
  std::size_t got = 0;
  RECORDSMITH_RETURN_IF_ERROR(windows_.file().read_at(first, bytes.data(), last - first + kHeaderBytes, &got));
  for (std::size_t at = 0; at + kHeaderBytes <= got && !*nearby; ++at) {
    std::uint64_t ignored = 0;
    *nearby = is_header(bytes.data() + at, &ignored);
  }
  return Status::ok();
}

}  // namespace recordsmith
