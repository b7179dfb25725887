// CRC-32C (Castagnoli), the checksum of TFRecord headers and payloads.
//
// The instruction set is chosen once, at run time: three interleaved SSE4.2 streams joined by carry-less
// multiplication on x86-64, the CRC extension on 64-bit ARM, and eight lookup tables elsewhere. All give the same
// value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

// The CRC of `data`, continuing from `crc` (0 to start).
std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t crc = 0);

// TFRecords store a CRC rotated and shifted, so that a CRC over data that holds CRCs stays meaningful.
inline std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

inline std::uint32_t masked_crc32c(const void* data, std::size_t size) { return mask_crc(crc32c(data, size)); }

// "sse4.2+pclmul", "armv8" or "portable".
const char* crc32c_backend();

// The table form, which every machine has; public so that tests can compare the fast forms with it.
std::uint32_t crc32c_portable(const void* data, std::size_t size, std::uint32_t crc = 0);

}  // namespace recordsmith
