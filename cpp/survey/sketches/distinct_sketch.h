// How many different keys there were, estimated by HyperLogLog: each register keeps the longest run of leading zeros
// among the hashes that belong to it.
//
// Most hashes of a long run of values change nothing: once every register has seen some zeros, a hash that begins with
// fewer is skipped by one comparison. The result depends on the set of keys alone, neither on their order nor on the
// units.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "survey/facts/packing.h"

namespace recordsmith::survey {

class DistinctSketch {
 public:
  // 2 to the power of `bits` registers of one byte.
  explicit DistinctSketch(unsigned bits) : registers_(std::size_t{1} << bits, 0), at_floor_(registers_.size()) {}

  // All bits of the hash must depend on all bits of the key.
  void add(std::uint64_t hash) {
    if (hash <= largest_of_use_) raise(hash);
  }
  void add(std::span<const std::uint64_t> hashes) {
    std::uint64_t largest = largest_of_use_;  // not read again for each hash
    for (const std::uint64_t hash : hashes) {
      if (hash > largest) continue;
      raise(hash);
      largest = largest_of_use_;
    }
  }
  void merge(const DistinctSketch& other);
  double estimate() const;
  // Relative, at 95 %.
  double error() const;

  template <typename Archive>
  void transfer(Archive& archive) {
    const std::size_t size = registers_.size();
    const std::uint8_t most = most_zeros();
    archive.list(registers_, size);
    if constexpr (Archive::kReads) {
      const auto is_sound = [&](std::uint8_t zeros) { return zeros <= most; };
      const bool are_sound = std::all_of(registers_.begin(), registers_.end(), is_sound);
      if (!archive.require(registers_.size() == size && are_sound)) registers_.assign(size, 0);
      find_floor();
    }
  }

 private:
  std::uint64_t mask() const { return registers_.size() - 1; }
  // One more than the zeros of a hash, of which the bits that name the register are not counted.
  std::uint8_t zeros_of(std::uint64_t hash) const {
    return static_cast<std::uint8_t>(std::countl_zero(hash | mask()) + 1);
  }
  std::uint8_t most_zeros() const { return zeros_of(0); }
  void raise(std::uint64_t hash);
  void find_floor();

  std::vector<std::uint8_t> registers_;
  std::uint64_t largest_of_use_ = ~std::uint64_t{0};  // larger hashes have too few zeros for any register
  std::size_t at_floor_;                              // the registers with the fewest zeros
};

}  // namespace recordsmith::survey
