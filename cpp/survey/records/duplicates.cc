#include "survey/records/duplicates.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace recordsmith::survey {
namespace {

constexpr std::size_t kMostGroups = 20;

bool comes_first(const RecordDigest& left, const RecordDigest& right) {
  return std::tie(left.content, left.unit, left.number) < std::tie(right.content, right.unit, right.number);
}

// Sorts in place, by eight bits of the content after the other: digests are spread evenly, so a few are left of which
// these bits are equal.
void sort_digests(std::span<RecordDigest> digests, int shift = 56) {
  constexpr std::size_t kFew = 64;
  constexpr std::size_t kBuckets = 256;
  if (digests.size() < kFew || shift < 0) {
    std::sort(digests.begin(), digests.end(), comes_first);
    return;
  }
  const auto bucket_of = [&](const RecordDigest& digest) {
    return static_cast<std::size_t>(digest.content >> shift) % kBuckets;
  };
  std::array<std::size_t, kBuckets + 1> ends{};
  for (const RecordDigest& digest : digests) ++ends[bucket_of(digest) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::array<std::size_t, kBuckets + 1> next = ends;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    while (next[bucket] < ends[bucket + 1]) {
      RecordDigest& digest = digests[next[bucket]];
      std::swap(digest, digests[next[bucket_of(digest)]++]);
    }
    sort_digests(digests.subspan(ends[bucket], ends[bucket + 1] - ends[bucket]), shift - 8);
  }
}

bool is_larger(const DuplicateGroup& left, const DuplicateGroup& right) {
  const RecordName& first = left.places.front();
  const RecordName& second = right.places.front();
  if (left.count != right.count) return left.count > right.count;
  return std::tie(first.source, first.number) < std::tie(second.source, second.number);
}

}  // namespace

// Takes digests in order and counts those that occur more than once: all of them, or those whose payloads differ.
class DigestStore::GroupTally {
 public:
  GroupTally(const std::vector<std::uint32_t>& split_of_unit, std::uint32_t splits, bool only_differing,
             DuplicateSummary* summary)
      : split_of_unit_(split_of_unit), only_differing_(only_differing), summary_(summary), in_split_(splits) {
    summary_->within.assign(splits, 0);
  }

  void add(const RecordDigest& entry) {
    if (group_.count == 0 || entry.content != content_) {
      finish_group();
      content_ = entry.content;
      payload_ = entry.payload;
    }
    group_.payloads_differ |= entry.payload != payload_;
    const std::uint32_t split = split_of_unit_[entry.unit];
    if (in_split_[split]++ == 0) group_.splits.push_back(split);
    if (++group_.count <= kMostPlaces) group_.places.push_back({entry.unit, entry.number, 0});
  }

  void finish() {
    finish_group();
    shorten();
  }

 private:
  void finish_group() {
    std::sort(group_.splits.begin(), group_.splits.end());
    const bool counts = group_.count > 1 && (group_.payloads_differ || !only_differing_);
    if (counts) {
      // The first of several copies is the original; of contradicting records, none is known to be right.
      const std::uint64_t first = only_differing_ ? 0 : 1;
      for (const std::uint32_t split : group_.splits) summary_->within[split] += in_split_[split] - first;
      for (std::size_t i = 0; i < group_.splits.size(); ++i) {
        for (std::size_t j = i + 1; j < group_.splits.size(); ++j) {
          ++summary_->across[{group_.splits[i], group_.splits[j]}];
        }
      }
    }
    for (const std::uint32_t split : group_.splits) in_split_[split] = 0;
    if (counts) summary_->groups.push_back(std::move(group_));
    if (summary_->groups.size() > 50 * kMostGroups) shorten();
    group_ = DuplicateGroup();
  }

  void shorten() {
    std::sort(summary_->groups.begin(), summary_->groups.end(), is_larger);
    if (summary_->groups.size() > kMostGroups) summary_->groups.resize(kMostGroups);
  }

  const std::vector<std::uint32_t>& split_of_unit_;
  const bool only_differing_;
  DuplicateSummary* summary_;
  std::vector<std::uint64_t> in_split_;  // how many of the group are in each split
  std::uint64_t content_ = 0;
  std::uint64_t payload_ = 0;  // of the group's first
  DuplicateGroup group_;
};

// Reads one run of the temporary file, a piece at a time.
class DigestStore::RunReader {
 public:
  RunReader(const DigestStore* store, Run run) : store_(store), run_(run) {}

  bool at_end() const { return position_ == piece_.size(); }
  const RecordDigest& entry() const { return piece_[position_]; }
  Status advance() {
    if (++position_ < piece_.size()) return Status::ok();
    return read();
  }
  Status read() {
    constexpr std::uint64_t kPiece = 4096;
    piece_.resize(static_cast<std::size_t>(std::min(kPiece, run_.end - run_.begin)));
    position_ = 0;
    auto* to = reinterpret_cast<char*>(piece_.data());
    std::size_t left = piece_.size() * sizeof(RecordDigest);
    auto offset = static_cast<off_t>(run_.begin * sizeof(RecordDigest));
    while (left > 0) {
      const ssize_t got = pread(store_->file_, to, left, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return store_->system_failure("read", got < 0 ? errno : EIO);
      to += got;
      offset += got;
      left -= static_cast<std::size_t>(got);
    }
    run_.begin += piece_.size();
    return Status::ok();
  }

 private:
  const DigestStore* store_;
  Run run_;
  std::vector<RecordDigest> piece_;
  std::size_t position_ = 0;
};

DigestStore::~DigestStore() {
  if (file_ >= 0) close(file_);
}

Status DigestStore::system_failure(const char* action, int error) const {
  Failure failure;
  failure.code = Code::kSystem;
  failure.path = folder_;
  failure.system_error = error;
  failure.detail = std::string(action) + " a temporary file";
  return Status(std::move(failure));
}

Status DigestStore::add(const std::vector<RecordDigest>& digests) {
  for (std::size_t at = 0; at < digests.size();) {
    if (held_.size() >= held_at_most_) RECORDSMITH_RETURN_IF_ERROR(write_run());
    const std::size_t taken = std::min(digests.size() - at, held_at_most_ - held_.size());
    held_.insert(held_.end(), digests.begin() + static_cast<std::ptrdiff_t>(at),
                 digests.begin() + static_cast<std::ptrdiff_t>(at + taken));
    at += taken;
  }
  return Status::ok();
}

Status DigestStore::write_run() {
  if (file_ < 0) {
    std::string name = folder_ + "/recordsmith-digests-XXXXXX";
    file_ = mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0) return system_failure("make", errno);
    unlink(name.c_str());
  }
  sort_digests(held_);
  const auto* from = reinterpret_cast<const char*>(held_.data());
  std::size_t left = held_.size() * sizeof(RecordDigest);
  auto offset = static_cast<off_t>(written_ * sizeof(RecordDigest));
  while (left > 0) {
    const ssize_t put = pwrite(file_, from, left, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure("write", errno);
    from += put;
    offset += put;
    left -= static_cast<std::size_t>(put);
  }
  runs_.push_back({written_, written_ + held_.size()});
  written_ += held_.size();
  held_.clear();
  return Status::ok();
}

Status DigestStore::find_duplicates(const std::vector<std::uint32_t>& split_of_unit, std::uint32_t splits,
                                    DuplicateSummary* summary) {
  GroupTally tally(split_of_unit, splits, false, summary);
  return find_groups(&tally);
}

Status DigestStore::find_contradictions(const std::vector<std::uint32_t>& split_of_unit, std::uint32_t splits,
                                        DuplicateSummary* summary) {
  GroupTally tally(split_of_unit, splits, true, summary);
  return find_groups(&tally);
}

Status DigestStore::find_groups(GroupTally* tally) {
  if (runs_.empty()) {
    sort_digests(held_);
    for (const RecordDigest& entry : held_) tally->add(entry);
    tally->finish();
    return Status::ok();
  }
  if (!held_.empty()) RECORDSMITH_RETURN_IF_ERROR(write_run());
  held_ = {};
  std::vector<RunReader> readers;
  for (const Run& run : runs_) {
    readers.emplace_back(this, run);
    RECORDSMITH_RETURN_IF_ERROR(readers.back().read());
  }
  const auto comes_later = [&](std::size_t left, std::size_t right) {
    return comes_first(readers[right].entry(), readers[left].entry());
  };
  std::vector<std::size_t> heap;
  for (std::size_t i = 0; i < readers.size(); ++i) heap.push_back(i);
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    RunReader& reader = readers[heap.back()];
    tally->add(reader.entry());
    RECORDSMITH_RETURN_IF_ERROR(reader.advance());
    if (reader.at_end()) {
      heap.pop_back();
    } else {
      std::push_heap(heap.begin(), heap.end(), comes_later);
    }
  }
  tally->finish();
  return Status::ok();
}

}  // namespace recordsmith::survey
