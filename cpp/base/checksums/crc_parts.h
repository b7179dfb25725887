// The CRC-32C of a part, computed from the CRCs of the whole and of the rest.
//
// A CRC is a polynomial modulo another one, so CRCs of neighbouring ranges can be joined and split without their bytes:
// crc(AB) = crc(A) * x^(8 |B|) + crc(B), where + is exclusive or.
#pragma once

#include <array>
#include <cstdint>

namespace recordsmith {
namespace crc_parts {

inline constexpr std::uint32_t kPolynomial = 0x82f63b78u;  // bits reversed: the highest bit is x^0

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// x^(2^n).
inline constexpr std::array<std::uint32_t, 64> kPowers = [] {
  std::array<std::uint32_t, 64> powers{};
  powers[0] = std::uint32_t{1} << 30;
  for (std::size_t n = 1; n < powers.size(); ++n) powers[n] = multiply(powers[n - 1], powers[n - 1]);
  return powers;
}();

}  // namespace crc_parts

// x^(8 bytes), by which a CRC is multiplied when that many bytes follow.
inline std::uint32_t crc_shift(std::uint64_t bytes) {
  std::uint32_t shift = std::uint32_t{1} << 31;
  for (std::size_t n = 3; bytes != 0; bytes >>= 1, ++n) {
    if ((bytes & 1) != 0) shift = crc_parts::multiply(crc_parts::kPowers[n], shift);
  }
  return shift;
}

// crc(B) from crc(AB) and crc(A), and the shift of B's size.
inline std::uint32_t crc_of_rest(std::uint32_t whole, std::uint32_t beginning, std::uint32_t shift_of_rest) {
  return whole ^ crc_parts::multiply(beginning, shift_of_rest);
}

}  // namespace recordsmith
