#include "base/utf8.h"

#include <cstring>

namespace recordsmith {

bool is_utf8(const std::uint8_t* text, std::size_t size) {
  const std::uint8_t* at = text;
  const std::uint8_t* const end = text + size;
  const auto continues = [&](std::ptrdiff_t ahead) { return (at[ahead] & 0xc0) == 0x80; };
  while (at < end) {
    if (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const std::uint8_t lead = *at;
    if (lead < 0x80) {
      at += 1;
    } else if (lead < 0xc2) {
      return false;
    } else if (lead < 0xe0) {
      if (end - at < 2 || !continues(1)) return false;
      at += 2;
    } else if (lead < 0xf0) {
      if (end - at < 3 || !continues(1) || !continues(2)) return false;
      if (lead == 0xe0 && at[1] < 0xa0) return false;
      if (lead == 0xed && at[1] >= 0xa0) return false;
      at += 3;
    } else if (lead < 0xf5) {
      if (end - at < 4 || !continues(1) || !continues(2) || !continues(3)) return false;
      if (lead == 0xf0 && at[1] < 0x90) return false;
      if (lead == 0xf4 && at[1] >= 0x90) return false;
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

bool is_readable_text(const std::uint8_t* text, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = text[i];
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f) return false;
  }
  return is_utf8(text, size);
}

}  // namespace recordsmith
