#include "columns/text_scan.h"

#include <algorithm>
#include <cstring>

#include "base/vector_clones.h"

namespace recordsmith {
namespace {

bool is_digit_or_x(std::uint8_t byte) { return static_cast<std::uint8_t>(byte - '0') < 10 || (byte | 0x20) == 'x'; }

// Without branches, so that the compiler can vectorise it. Reads two bytes beyond `count`.
RECORDSMITH_WITH_AVX2
bool any_leading_zero(const std::uint8_t* text, std::size_t count, const std::uint8_t separators[4]) {
  const std::uint8_t a = separators[0], b = separators[1], c = separators[2], d = separators[3];
  std::uint8_t any = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t before = text[i], zero = text[i + 1], after = text[i + 2];
    const std::uint8_t begins = (before == a) | (before == b) | (before == c) | (before == d);
    const std::uint8_t goes_on =
        (static_cast<std::uint8_t>(after - '0') < 10) | (static_cast<std::uint8_t>(after | 0x20) == 'x');
    any |= static_cast<std::uint8_t>(begins & (zero == '0') & goes_on);
  }
  return any != 0;
}

}  // namespace

std::size_t find_byte(const std::uint8_t* text, std::size_t size, std::uint8_t byte,
                      PooledArray<std::int64_t>* places) {
  std::size_t found = 0;
  for (const std::uint8_t *at = text, *end = text + size; at < end; ++at) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, byte, static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    places->reserve(found + 1, found);
    (*places)[found++] = at - text;
  }
  return found;
}

bool has_leading_zeros(const std::uint8_t* text, std::size_t size, const std::uint8_t separators[4]) {
  constexpr std::size_t kBlock = 1 << 16;
  if (size < 2) return false;
  if (text[0] == '0' && is_digit_or_x(text[1])) return true;
  for (std::size_t at = 0; at + 2 < size; at += kBlock) {
    if (any_leading_zero(text + at, std::min(kBlock, size - 2 - at), separators)) return true;
  }
  return false;
}

std::size_t json_depth(const std::uint8_t* text, std::size_t size) {
  std::size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = text[i];
    if (in_string) {
      if (byte == '\\') {
        ++i;
      } else if (byte == '"' || byte == '\n') {
        in_string = false;
      }
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '[' || byte == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((byte == ']' || byte == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

WordFinder::WordFinder(const std::uint8_t* word, std::size_t size, bool any_case) : word_(word), size_(size) {
  for (std::size_t byte = 0; byte < folded_.size(); ++byte) {
    const bool capital = any_case && byte >= 'A' && byte <= 'Z';
    folded_[byte] = static_cast<std::uint8_t>(capital ? byte + 32 : byte);
  }
  std::array<std::size_t, 256> by_folded;
  by_folded.fill(size);
  for (std::size_t i = 0; i + 1 < size; ++i) by_folded[folded_[word[i]]] = size - 1 - i;
  for (std::size_t byte = 0; byte < skips_.size(); ++byte) skips_[byte] = by_folded[folded_[byte]];
}

bool WordFinder::is_in(const std::uint8_t* text, std::size_t size) const {
  if (size_ == 0) return true;
  const std::uint8_t last = folded_[word_[size_ - 1]];
  for (std::size_t end = size_ - 1; end < size; end += skips_[text[end]]) {
    if (folded_[text[end]] != last) continue;
    std::size_t left = size_ - 1;
    while (left > 0 && folded_[text[end - size_ + left]] == folded_[word_[left - 1]]) --left;
    if (left == 0) return true;
  }
  return false;
}

}  // namespace recordsmith
