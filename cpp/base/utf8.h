// UTF-8 validation as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

bool is_utf8(const std::uint8_t* text, std::size_t size);

// UTF-8 that a person could have typed: no control characters but tab and line ends. Raw numbers are often valid UTF-8
// by chance (a byte below 128 is), and rarely this.
bool is_readable_text(const std::uint8_t* text, std::size_t size);

}  // namespace recordsmith
