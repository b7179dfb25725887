// Records with equal content, by 64 bits of XXH3.
//
// Content is the payload without the features that only say where a record comes from; whether whole payloads are equal
// is known too. That makes twenty-four bytes per record: both digests and the record's name. A limited number of them
// is held in memory; when there are more, they are sorted and written to a temporary file without a name, and all runs
// are merged at the end. Two different contents share a digest by chance once in some billions of records.
//
// Records whose labels contradict each other are found in the same way, by a second store: the content is then the
// payload without the labels too, and the digest with the labels takes the payload's place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "survey/facts/summary.h"

namespace recordsmith::survey {

struct RecordDigest {
  std::uint64_t content;
  std::uint64_t payload;
  std::uint32_t unit;
  std::uint32_t number;
};

class DigestStore {
 public:
  DigestStore(std::size_t held_at_most, std::string folder) : held_at_most_(held_at_most), folder_(std::move(folder)) {}
  ~DigestStore();
  DigestStore(const DigestStore&) = delete;
  DigestStore& operator=(const DigestStore&) = delete;

  Status add(const std::vector<RecordDigest>& digests);
  // Content that occurs more than once; `split_of_unit` names the split of each unit.
  Status find_duplicates(const std::vector<std::uint32_t>& split_of_unit, std::uint32_t splits,
                         DuplicateSummary* summary);
  // The groups whose payloads differ, and of these all records.
  Status find_contradictions(const std::vector<std::uint32_t>& split_of_unit, std::uint32_t splits,
                             DuplicateSummary* summary);

 private:
  struct Run {
    std::uint64_t begin;  // in entries
    std::uint64_t end;
  };
  class RunReader;

  class GroupTally;

  Status find_groups(GroupTally* tally);
  Status write_run();
  Status system_failure(const char* action, int error) const;

  const std::size_t held_at_most_;
  const std::string folder_;
  std::vector<RecordDigest> held_;
  int file_ = -1;
  std::uint64_t written_ = 0;  // entries
  std::vector<Run> runs_;
};

}  // namespace recordsmith::survey
