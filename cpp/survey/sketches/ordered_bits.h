// Numbers as unsigned ones of the same order.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace recordsmith::survey {

// The bits of a number, and the one that is set in its smallest (of integers) or negative ones (of floats).
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <typename T>
constexpr BitsOf<T> kTopBit = BitsOf<T>{1} << (8 * sizeof(T) - 1);

template <typename T>
BitsOf<T> ordered(T value) {
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  if constexpr (std::is_floating_point_v<T>) return (bits & kTopBit<T>) != 0 ? ~bits : bits ^ kTopBit<T>;
  return std::is_signed_v<T> ? bits ^ kTopBit<T> : bits;
}

template <typename T>
T unordered(BitsOf<T> bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>((bits & kTopBit<T>) != 0 ? bits ^ kTopBit<T> : ~bits);
  }
  return std::bit_cast<T>(std::is_signed_v<T> ? bits ^ kTopBit<T> : bits);
}

}  // namespace recordsmith::survey
