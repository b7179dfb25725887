// Places of a damaged file at which records begin.
//
// Twelve bytes can be a sound header by chance, and data can hold some. So a place is believed only if another sound
// header or the end of the file is where its length leads, or if its data CRC holds. From a believed place on, the
// sound records that follow each other are a chain.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "recovery/search/record_windows.h"

namespace recordsmith {

// Sound records, each where the one before ends.
struct Chain {
  std::uint64_t end = 0;
  std::uint64_t records = 0;
  bool reaches_end = false;  // of the file, exactly
};

class RecordSearch {
 public:
  // The windows must outlive it.
  explicit RecordSearch(RecordWindows* windows) : windows_(*windows) {}

  // The first believable place from `from` on; the end of the file if there is none.
  Status find_believable(std::uint64_t from, std::uint64_t* place);
  // The first place from `from` on from which sound records lead to `end` or across it; `end` itself if there is none.
  Status find_chain_to(std::uint64_t from, std::uint64_t end, std::uint64_t* place);

  // A chain without records yet.
  Chain chain_at(std::uint64_t begin) const { return {begin, 0, begin == windows_.size()}; }
  // Adds the next record; *extended is false if there is none, or no sound one.
  Status extend(Chain* chain, bool* extended);
  // All sound records from `begin` on, up to the first that ends at `limit` or behind it.
  Status follow(std::uint64_t begin, std::uint64_t limit, Chain* chain);

 private:
  Status is_believable(std::uint64_t offset, std::uint64_t length, bool* believed);

  RecordWindows& windows_;
};

}  // namespace recordsmith
