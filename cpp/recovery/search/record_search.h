// Searches a damaged file for places at which records begin.
//
// Twelve bytes can be a sound header by chance, and data can contain some. So a place is accepted only if another sound
// header or the end of the file is where its length leads, or if its data CRC holds. The sound records that follow each
// other from an accepted place are a chain.
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

  // The first acceptable place at or after `from`; the end of the file if there is none.
  Status find_acceptable(std::uint64_t from, std::uint64_t* place);
  // The first place at or after `from` whose sound records lead to `end` or across it; `end` itself if there is none.
  Status find_chain_to(std::uint64_t from, std::uint64_t end, std::uint64_t* place);

  // A chain without records yet.
  Chain chain_at(std::uint64_t begin) const { return {begin, 0, begin == windows_.size()}; }
  // Adds the next record; *extended is false if there is none, or no sound one.
  Status extend(Chain* chain, bool* extended);
  // All sound records from `begin`, up to the first that ends at `limit` or after it.
  Status follow(std::uint64_t begin, std::uint64_t limit, Chain* chain);

 private:
  Status is_acceptable(std::uint64_t offset, std::uint64_t length, bool* accepted);

  RecordWindows& windows_;
};

}  // namespace recordsmith
