// A pseudo-random permutation of the numbers below n that is computed, not stored: the exact global shuffle.
//
// Small ranges are shuffled for real (Fisher and Yates, every permutation equally likely). Large ones go through a
// Feistel network of six rounds over the next power of four, repeated until the result is inside the range; that is a
// permutation whatever the rounds do, and takes no memory. The same n and key give the same permutation everywhere.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace recordsmith {

// splitmix64's output function: a permutation of 64-bit numbers in which every input bit reaches every output bit.
inline std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

class KeyedPermutation {
 public:
  static constexpr std::uint64_t kStoredBelow = 1 << 16;

  KeyedPermutation(std::uint64_t n, std::uint64_t key) : n_(n) {
    if (n <= kStoredBelow) {
      shuffle(key);
      return;
    }
    half_bits_ = (static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2;
    half_mask_ = (std::uint64_t{1} << half_bits_) - 1;
    for (std::size_t i = 0; i < kRounds; ++i) keys_[i] = mix64(key + i);
  }

  std::uint64_t size() const { return n_; }

  // Where the number goes; it must be below n.
  std::uint64_t operator()(std::uint64_t number) const {
    if (n_ <= kStoredBelow) return stored_[static_cast<std::size_t>(number)];
    do {
      number = encrypt(number);
    } while (number >= n_);
    return number;
  }

  // The same for many numbers. They are computed side by side, so that the processor does not wait for each result.
  void apply(const std::int64_t* numbers, std::size_t count, std::int64_t* results) const {
    if (n_ <= kStoredBelow) {
      for (std::size_t i = 0; i < count; ++i) {
        results[i] = static_cast<std::int64_t>(stored_[static_cast<std::size_t>(numbers[i])]);
      }
      return;
    }
    constexpr std::size_t kAtOnce = 512;
    std::uint64_t values[kAtOnce];
    std::uint16_t places[kAtOnce];
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      std::size_t left = count - first < kAtOnce ? count - first : kAtOnce;
      for (std::size_t i = 0; i < left; ++i) {
        values[i] = static_cast<std::uint64_t>(numbers[first + i]);
        places[i] = static_cast<std::uint16_t>(i);
      }
      while (left > 0) {
        for (std::size_t i = 0; i < left; ++i) values[i] = encrypt(values[i]);
        // Those that are inside the range are done; the others move together, without a branch that the processor
        // cannot predict.
        std::size_t kept = 0;
        for (std::size_t i = 0; i < left; ++i) {
          const std::uint64_t value = values[i];
          const std::uint16_t place = places[i];
          results[first + place] = static_cast<std::int64_t>(value);
          values[kept] = value;
          places[kept] = place;
          kept += value >= n_;
        }
        left = kept;
      }
    }
  }

 private:
  static constexpr std::size_t kRounds = 6;

  void shuffle(std::uint64_t key) {
    stored_.resize(static_cast<std::size_t>(n_));
    std::iota(stored_.begin(), stored_.end(), 0u);
    std::uint64_t counter = mix64(key);
    for (std::size_t i = stored_.size(); i > 1; --i) {
      // A number below i without bias: numbers in the incomplete last part of 2^64 are rejected.
      const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % i;
      std::uint64_t random;
      do {
        random = mix64(counter++);
      } while (random >= limit);
      std::swap(stored_[i - 1], stored_[static_cast<std::size_t>(random % i)]);
    }
  }

  std::uint64_t encrypt(std::uint64_t number) const {
    std::uint64_t left = number >> half_bits_;
    std::uint64_t right = number & half_mask_;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mix64(right ^ key) & half_mask_);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t n_;
  std::vector<std::uint32_t> stored_;
  unsigned half_bits_ = 0;
  std::uint64_t half_mask_ = 0;
  std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace recordsmith
