// A digest of 128 bits of any bytes: fast, and not meant against somebody who forges them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace recordsmith {

std::array<std::uint8_t, 16> digest_bytes(const void* data, std::size_t size);

}  // namespace recordsmith
