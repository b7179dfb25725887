// The order of a shuffle through a buffer, for the numbers below n. The buffer is filled from the front. Each step
// returns a random number of the buffer, and the next number takes its place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/permutation.h"

namespace recordsmith {

class BufferShuffle {
 public:
  BufferShuffle(std::uint64_t n, std::uint64_t buffer, std::uint64_t key) : n_(n), counter_(mix64(key)) {
    const std::uint64_t filled = buffer < n ? buffer : n;
    buffer_.reserve(static_cast<std::size_t>(filled));
    for (; next_ < filled; ++next_) buffer_.push_back(next_);
  }

  // Writes up to `count` more numbers and returns how many there were.
  std::size_t next(std::int64_t* out, std::size_t count) {
    std::size_t given = 0;
    for (; given < count && !buffer_.empty(); ++given) {
      // The bias of taking the remainder of 64 random bits is below 2^-30 for any buffer that fits into memory.
      const auto place = static_cast<std::size_t>(mix64(counter_++) % buffer_.size());
      out[given] = static_cast<std::int64_t>(buffer_[place]);
      if (next_ < n_) {
        buffer_[place] = next_++;
      } else {
        buffer_[place] = buffer_.back();
        buffer_.pop_back();
      }
    }
    return given;
  }

 private:
  std::uint64_t n_;
  std::uint64_t counter_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> buffer_;
};

}  // namespace recordsmith
