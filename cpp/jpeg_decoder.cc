#include "jpeg_decoder.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "jpeg_transform.h"
#include "pauses.h"
#include "vector_clones.h"

namespace recordsmith {
namespace {

// From the order of the file to rows and columns.
constexpr std::uint8_t kNaturalOrder[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                            12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                            35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                            58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// The same with the place beyond the block for everything that lies outside.
struct Places {
  std::uint8_t natural[256];
  constexpr Places() : natural() {
    for (std::size_t k = 0; k < 256; ++k) natural[k] = k < 64 ? kNaturalOrder[k] : 64;
  }
};
constexpr Places kPlaceOf;

// Larger ones are left to the library, one at a time: memory is kept from picture to picture, by every thread.
constexpr std::size_t kMostPixels = 16'000'000;
// A block has at most 64 codes of 16 bits, each with 15 bits of value.
constexpr std::size_t kMostBlockBytes = 64 * 32 / 8;
constexpr std::int32_t kEndOfBlock = 128;  // as a run: leads out of any block
constexpr int kHasSecond = 0x80;           // in a pair's step: the second is a coefficient
constexpr int kEndStep = 0x7F;             // the same if it is the block's end: leads out of any block too
std::size_t two_bytes(const std::uint8_t* at) { return static_cast<std::size_t>(at[0]) << 8 | at[1]; }

std::size_t divided_up(std::size_t number, std::size_t by) { return (number + by - 1) / by; }

// The value that `count` bits stand for: the upper half is positive, the lower half negative.
std::int32_t extended(std::int32_t bits, int count) {
  return count == 0 || bits >= 1 << (count - 1) ? bits : bits - (1 << count) + 1;
}

// Bits from the front. It reads up to 8 bytes beyond its position, so its memory has room behind the end.
struct BitReader {
  const std::uint8_t* at;
  std::uint64_t window = 0;
  int count = 0;

  // At least 56 bits are in the window after it.
  void fill() {
    std::uint64_t next;
    std::memcpy(&next, at, sizeof next);
    if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
    window |= next >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  void skip(int bits) {
    window <<= bits;
    count -= bits;
  }
  std::int32_t take(int bits) {
    if (bits == 0) return 0;
    const auto value = static_cast<std::int32_t>(window >> (64 - bits));
    skip(bits);
    return value;
  }
  // How far it has read, rounded up to whole bytes.
  const std::uint8_t* position() const { return at - (count >> 3); }
};

}  // namespace

bool JpegDecoder::HuffmanTable::build(const std::uint8_t* counts, const std::uint8_t* values, std::size_t count,
                                      bool dc) {
  std::uint8_t source[sizeof made_from] = {};
  source[0] = dc ? 1 : 2;
  std::memcpy(source + 1, counts, 16);
  std::memcpy(source + 17, values, count);
  if (std::memcmp(source, made_from, sizeof source) == 0) {
    present = true;
    return true;
  }
  made_from[0] = 0;  // until it is built
  std::memset(symbols, 0, sizeof symbols);
  std::memcpy(symbols, values, count);
  fast.assign(std::size_t{1} << kLookBits, 0);
  std::int32_t code = 0;
  std::int32_t symbol = 0;
  for (int length = 1; length <= 16; ++length) {
    offset[length] = symbol - code;
    for (int i = 0; i < counts[length - 1]; ++i, ++code, ++symbol) {
      const int run = dc ? 0 : symbols[symbol] >> 4;
      const int size = dc ? symbols[symbol] : symbols[symbol] & 15;
      if (dc && size > 11) return false;
      const int total = length + size;
      if (code >= 1 << length) return false;
      if (total > kLookBits) continue;
      const bool ends = !dc && size == 0 && run != 15;
      if (ends && run != 0) continue;  // only in progressive pictures: found out the slow way
      for (std::int32_t bits = 0; bits < 1 << size; ++bits) {
        const std::uint32_t value = static_cast<std::uint32_t>(extended(bits, size)) << 16;
        const std::uint32_t entry =
            value | static_cast<std::uint32_t>(ends ? kEndOfBlock : run) << 8 | static_cast<std::uint32_t>(total);
        const std::size_t first = static_cast<std::size_t>(code << size | bits) << (kLookBits - total);
        const std::size_t last = first + (std::size_t{1} << (kLookBits - total));
        for (std::size_t i2 = first; i2 < last; ++i2) fast[i2] = static_cast<std::int32_t>(entry);
      }
    }
    largest[length] = counts[length - 1] == 0 ? -1 : (code << (16 - length)) - 1;
    code <<= 1;
  }
  largest[17] = 1 << 16;
  if (!dc) build_pairs();
  std::memcpy(made_from, source, sizeof source);
  present = true;
  return true;
}

void JpegDecoder::HuffmanTable::build_pairs() {
  pairs.assign(fast.size(), Pair{});
  for (std::size_t code = 0; code < fast.size(); ++code) {
    const std::int32_t first = fast[code];
    if (first == 0) continue;
    Pair& pair = pairs[code];
    pair.value = static_cast<std::int16_t>(first >> 16);
    pair.run = static_cast<std::uint8_t>(first >> 8);
    pair.bits = pair.first_bits = static_cast<std::uint8_t>(first);
    if (pair.run == kEndOfBlock) continue;
    const std::int32_t second = fast[code << pair.bits & (fast.size() - 1)];
    const int both = pair.bits + (second & 0xFF);
    if (second == 0 || both > kLookBits) continue;
    const int run = second >> 8 & 0xFF;
    pair.bits = static_cast<std::uint8_t>(both);
    pair.next_value = static_cast<std::int16_t>(second >> 16);
    pair.step = static_cast<std::uint8_t>(run == kEndOfBlock ? kEndStep : kHasSecond | (run + 1));
  }
}

JpegSupport JpegDecoder::open(const std::uint8_t* data, std::size_t size) {
  restart_interval_ = 0;
  components_.clear();
  std::fill(std::begin(has_quantization_), std::end(has_quantization_), false);
  huffman_.resize(8);
  for (HuffmanTable& table : huffman_) table.present = false;
  end_ = data + size;
  bool exif = false;
  bool jfif = false;
  int adobe = -1;
  if (size < 4 || data[0] != 0xFF || data[1] != 0xD8) return JpegSupport::kUnsupported;
  const std::uint8_t* at = data + 2;
  while (end_ - at >= 4) {
    if (at[0] != 0xFF) return JpegSupport::kUnsupported;
    const std::uint8_t marker = at[1];
    if (marker == 0xFF) {  // padding
      ++at;
      continue;
    }
    const std::size_t length = two_bytes(at + 2);
    if (length < 2 || static_cast<std::size_t>(end_ - at) < 2 + length) return JpegSupport::kUnsupported;
    const std::uint8_t* body = at + 4;
    const std::size_t rest = length - 2;
    at += 2 + length;
    bool good = true;
    switch (marker) {
      case 0xC0:
      case 0xC1:
        good = components_.empty() && read_frame(body, rest);
        break;
      case 0xC4:
        good = read_huffman(body, rest);
        break;
      case 0xDB:
        good = read_quantization(body, rest);
        break;
      case 0xDD:
        good = rest == 2;
        if (good) restart_interval_ = two_bytes(body);
        break;
      case 0xDA: {
        if (components_.empty() || !read_scan(body, rest)) return JpegSupport::kUnsupported;
        scan_ = at;
        // Three components are YCbCr by JFIF, by Adobe's marker, or by the numbers that everybody uses for them.
        const bool ycc = jfif || adobe == 1 || (adobe < 0 && components_[0].id == 1 && components_.back().id == 3);
        if (components_.size() == 3 && !ycc) return JpegSupport::kUnsupported;
        return exif ? JpegSupport::kOriented : JpegSupport::kPlain;
      }
      case 0xE0:
        jfif = jfif || (rest >= 14 && std::memcmp(body, "JFIF", 5) == 0);
        break;
      case 0xE1:
        exif = exif || (rest >= 6 && std::memcmp(body, "Exif", 5) == 0);
        break;
      case 0xEE:
        if (rest >= 12 && std::memcmp(body, "Adobe", 5) == 0) adobe = body[11];
        break;
      default:
        // Comments and what applications add; anything else is not for us.
        good = marker == 0xFE || (marker >= 0xE2 && marker <= 0xEF);
    }
    if (!good) return JpegSupport::kUnsupported;
  }
  return JpegSupport::kUnsupported;
}

bool JpegDecoder::read_quantization(const std::uint8_t* at, std::size_t size) {
  while (size > 0) {
    const int wide = at[0] >> 4;
    const int table = at[0] & 15;
    const std::size_t bytes = 1 + (wide ? 128 : 64);
    if (wide > 1 || table > 3 || size < bytes) return false;
    for (int i = 0; i < 64; ++i) {
      quantization_[table][i] = static_cast<std::uint16_t>(wide ? two_bytes(at + 1 + 2 * i) : at[1 + i]);
    }
    has_quantization_[table] = true;
    at += bytes;
    size -= bytes;
  }
  return true;
}

bool JpegDecoder::read_huffman(const std::uint8_t* at, std::size_t size) {
  while (size > 0) {
    if (size < 17) return false;
    const int kind = at[0] >> 4;
    const int number = at[0] & 15;
    std::size_t count = 0;
    for (int i = 1; i <= 16; ++i) count += at[i];
    if (kind > 1 || number > 3 || count > 256 || size < 17 + count) return false;
    if (!huffman_[static_cast<std::size_t>(kind * 4 + number)].build(at + 1, at + 17, count, kind == 0)) return false;
    at += 17 + count;
    size -= 17 + count;
  }
  return true;
}

bool JpegDecoder::read_frame(const std::uint8_t* at, std::size_t size) {
  if (size < 6 || at[0] != 8) return false;
  height_ = two_bytes(at + 1);
  width_ = two_bytes(at + 3);
  const std::size_t count = at[5];
  // Very small pictures are upsampled differently, and not worth it.
  if (height_ < 8 || width_ < 8 || height_ * width_ > kMostPixels) return false;
  if ((count != 1 && count != 3) || size != 6 + 3 * count) return false;
  components_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* spec = at + 6 + 3 * i;
    components_[i].id = spec[0];
    components_[i].across = spec[1] >> 4;
    components_[i].down = spec[1] & 15;
    components_[i].quantization = spec[2];
    if (spec[2] > 3) return false;
  }
  if (count == 1) components_[0].across = components_[0].down = 1;  // has no meaning without others
  most_across_ = components_[0].across;
  most_down_ = components_[0].down;
  const bool known = (most_across_ == 1 && most_down_ == 1) || (most_across_ == 2 && most_down_ <= 2 && most_down_ > 0);
  if (!known) return false;
  for (std::size_t i = 1; i < count; ++i) {
    if (components_[i].across != 1 || components_[i].down != 1) return false;
  }
  return true;
}

bool JpegDecoder::read_scan(const std::uint8_t* at, std::size_t size) {
  const std::size_t count = components_.size();
  if (size != 4 + 2 * count || at[0] != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Component& component = components_[i];
    if (at[1 + 2 * i] != component.id) return false;
    component.dc_table = at[2 + 2 * i] >> 4;
    component.ac_table = at[2 + 2 * i] & 15;
    if (component.dc_table > 3 || component.ac_table > 3 || !has_quantization_[component.quantization]) return false;
    if (!huffman_[static_cast<std::size_t>(component.dc_table)].present) return false;
    if (!huffman_[static_cast<std::size_t>(4 + component.ac_table)].present) return false;
  }
  const std::uint8_t* end = at + 1 + 2 * count;
  return end[0] == 0 && end[1] == 63 && end[2] == 0;
}

// Copies the scan without the zeros that follow each 0xFF in it, and notes where restart markers stood.
bool JpegDecoder::unstuff(const std::uint8_t* at, const std::uint8_t* end) {
  bits_.resize(static_cast<std::size_t>(end - at) + kMostBlockBytes + 16);
  interval_ends_.clear();
  std::uint8_t* to = bits_.data();
  std::uint8_t restart = 0xD0;
  while (true) {
    const auto* mark = static_cast<const std::uint8_t*>(std::memchr(at, 0xFF, static_cast<std::size_t>(end - at)));
    if (mark == nullptr || mark + 1 >= end) return false;
    std::memcpy(to, at, static_cast<std::size_t>(mark - at));
    to += mark - at;
    at = mark + 2;
    if (mark[1] == 0) {
      *to++ = 0xFF;
      continue;
    }
    interval_ends_.push_back(static_cast<std::size_t>(to - bits_.data()));
    if (mark[1] == 0xD9) break;
    if (mark[1] != restart) return false;
    restart = restart == 0xD7 ? 0xD0 : restart + 1;
  }
  // Zeros from here on, so that what is read beyond the end does not depend on earlier pictures.
  std::memset(to, 0, kMostBlockBytes + 16);
  return true;
}

void JpegDecoder::want(const WantedPixels& wanted) {
  for (Component& component : components_) {
    const std::size_t ratio_across = most_across_ / component.across;
    const std::size_t ratio_down = most_down_ / component.down;
    component.width = divided_up(width_, ratio_across);
    component.height = divided_up(height_, ratio_down);
    const std::size_t blocks_across = divided_up(width_, 8 * most_across_) * component.across;
    const std::size_t blocks_down = divided_up(height_, 8 * most_down_) * component.down;
    component.stride = blocks_across * 8;
    component.plane.resize(component.stride * blocks_down * 8);
    component.block_columns.assign(blocks_across, 0);
    component.block_rows.assign(blocks_down, 0);
    const auto mark = [](const std::vector<std::uint8_t>& pixels, std::size_t ratio, std::size_t size,
                         std::vector<std::uint8_t>& blocks) {
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        if (!pixels[i]) continue;
        const std::size_t sample = i / ratio;
        blocks[sample / 8] = 1;
        if (ratio == 1) continue;
        // Upsampling looks at the neighbour on the side that the pixel lies on.
        const std::size_t neighbour = i % 2 ? std::min(sample + 1, size - 1) : (sample ? sample - 1 : 0);
        blocks[neighbour / 8] = 1;
      }
    };
    mark(wanted.rows, ratio_down, component.height, component.block_rows);
    mark(wanted.columns, ratio_across, component.width, component.block_columns);
  }
}

bool JpegDecoder::decode(const WantedPixels& wanted) {
  if (!unstuff(scan_, end_)) return false;
  // Before memory is taken for all those pixels: each block has two codes at least, of a bit at least.
  std::size_t blocks = 0;
  for (const Component& component : components_) blocks += component.across * component.down;
  blocks *= divided_up(width_, 8 * most_across_) * divided_up(height_, 8 * most_down_);
  if (blocks > interval_ends_.back() * 4) return false;
  want(wanted);
  const std::size_t units_across = divided_up(width_, 8 * most_across_);
  const std::size_t units_down = divided_up(height_, 8 * most_down_);
  const std::size_t units = units_across * units_down;
  const std::size_t intervals = restart_interval_ == 0 ? 1 : divided_up(units, restart_interval_);
  if (interval_ends_.size() != intervals) return false;
  alignas(32) std::int16_t quantization[3][64] = {};
  for (std::size_t i = 0; i < components_.size(); ++i) {
    for (int k = 0; k < 64; ++k) {
      const std::uint16_t scale = quantization_[components_[i].quantization][k];
      if (scale > 4096) return false;  // nor is this anything but damage
      quantization[i][kNaturalOrder[k]] = static_cast<std::int16_t>(scale);
    }
  }
  const BlockTransform transform = block_transform();
  alignas(32) std::int16_t block[64 + 16] = {};
  Pauses pauses;
  std::size_t unit = 0;
  for (std::size_t interval = 0; interval < intervals; ++interval) {
    const std::uint8_t* end = bits_.data() + interval_ends_[interval];
    BitReader bits{bits_.data() + (interval == 0 ? 0 : interval_ends_[interval - 1])};
    std::int32_t previous[3] = {0, 0, 0};
    const std::size_t last = restart_interval_ == 0 ? units : std::min(units, unit + restart_interval_);
    for (; unit < last; ++unit) {
      const std::size_t unit_row = unit / units_across;
      const std::size_t unit_column = unit % units_across;
      if (unit_column == 0) pauses.after(width_ * 8 * most_down_);
      for (std::size_t i = 0; i < components_.size(); ++i) {
        Component& component = components_[i];
        const HuffmanTable& dc_table = huffman_[static_cast<std::size_t>(component.dc_table)];
        const HuffmanTable& ac_table = huffman_[static_cast<std::size_t>(4 + component.ac_table)];
        const std::int32_t* const dc_fast = dc_table.fast.data();
        const HuffmanTable::Pair* const ac_pairs = ac_table.pairs.data();
        const std::int16_t* const scales = quantization[i];
        for (std::size_t part = 0; part < component.across * component.down; ++part) {
          // --- the difference of the mean to that of the block before ---
          bits.fill();
          std::int32_t entry = dc_fast[bits.window >> (64 - HuffmanTable::kLookBits)];
          std::int32_t difference;
          if (entry != 0) {
            bits.skip(entry & 0xFF);
            difference = entry >> 16;
          } else {
            int length = 1;
            const auto code = static_cast<std::int32_t>(bits.window >> 48);
            while (code > dc_table.largest[length]) ++length;
            if (length > 16) return false;
            const int size = dc_table.symbols[((code >> (16 - length)) + dc_table.offset[length]) & 0xFF];
            bits.skip(length);
            difference = extended(bits.take(size), size);
          }
          previous[i] += difference;
          block[0] = static_cast<std::int16_t>(previous[i]);
          // --- the other coefficients: runs of zeros, and values ---
          std::int32_t k = 1;
          std::int32_t last_k = 63;
          while (true) {
            bits.fill();
            // The window has bits for four lookups.
            for (int n = 0; n < 4; ++n) {
              const HuffmanTable::Pair pair = ac_pairs[bits.window >> (64 - HuffmanTable::kLookBits)];
              if (pair.bits != 0) [[likely]] {
                const std::int32_t first = k + pair.run;
                block[kPlaceOf.natural[first]] = pair.value;
                // The second one: if there is none, a zero where there is a zero already.
                const std::int32_t second = first + (pair.step & 0x7F);
                block[kPlaceOf.natural[second]] = pair.next_value;
                const std::int32_t before = k;
                k = second + (pair.step >> 7);
                if (k > 63) [[unlikely]] {
                  if (first == 63) {
                    bits.skip(pair.first_bits);  // what follows belongs to the next block
                    goto block_is_read;
                  }
                  bits.skip(pair.bits);
                  if (first >= kEndOfBlock) {
                    last_k = before - 1;
                    goto block_is_read;
                  }
                  if (k == 64) goto block_is_read;
                  if (first > 63 || k < kEndOfBlock) return false;
                  last_k = first;
                  goto block_is_read;
                }
                bits.skip(pair.bits);
              } else {
                bits.fill();
                n = 4;
                int length = 1;
                const auto code = static_cast<std::int32_t>(bits.window >> 48);
                while (code > ac_table.largest[length]) ++length;
                if (length > 16) return false;
                const int symbol = ac_table.symbols[((code >> (16 - length)) + ac_table.offset[length]) & 0xFF];
                const int size = symbol & 15;
                const int run = symbol >> 4;
                if (size == 0 && run != 15 && run != 0) return false;
                bits.skip(length);
                const std::int32_t value = extended(bits.take(size), size);
                if (size == 0 && run == 0) {
                  last_k = k - 1;
                  goto block_is_read;
                }
                k += run;
                if (k > 63) return false;
                block[kNaturalOrder[k]] = static_cast<std::int16_t>(value);
                if (++k == 64) goto block_is_read;
              }
            }
          }
        block_is_read:
          if (bits.position() > end) return false;
          // --- to pixels, if somebody wants them ---
          const std::size_t row = unit_row * component.down + part / component.across;
          const std::size_t column = unit_column * component.across + part % component.across;
          if (component.block_rows[row] && component.block_columns[column]) {
            std::uint8_t* to = component.plane.data() + row * 8 * component.stride + column * 8;
            if (last_k == 0) {
              if (!fill_block(block[0], scales[0], to, component.stride)) return false;
            } else if (!transform(block, scales, last_k <= 9, to, component.stride)) {
              return false;
            }
          } else if (last_k > 0) {
            std::memset(block, 0, 64 * sizeof block[0]);
          }
        }
      }
    }
    // What follows the last code are bits set to fill up a byte, and no more.
    if (end - bits.position() > 0) return false;
  }
  return true;
}

namespace {

RECORDSMITH_WITH_AVX2
void sum_rows_3_to_1(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
                     std::int16_t* __restrict sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<std::int16_t>(3 * near[i] + far[i]);
}

// Twice as many samples, each three parts of the nearer neighbour and one of the other. `from` has a copy of its first
// and last samples beyond its ends.
RECORDSMITH_WITH_AVX2
void spread_sums(const std::int16_t* from, std::size_t count, std::uint8_t* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<std::uint8_t>((3 * from[i] + from[static_cast<std::ptrdiff_t>(i) - 1] + 8) >> 4);
    to[2 * i + 1] = static_cast<std::uint8_t>((3 * from[i] + from[i + 1] + 7) >> 4);
  }
}

RECORDSMITH_WITH_AVX2
void spread_samples(const std::int16_t* from, std::size_t count, std::uint8_t* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[2 * i] = static_cast<std::uint8_t>((3 * from[i] + from[static_cast<std::ptrdiff_t>(i) - 1] + 1) >> 2);
    to[2 * i + 1] = static_cast<std::uint8_t>((3 * from[i] + from[i + 1] + 2) >> 2);
  }
}

RECORDSMITH_WITH_AVX2
void colours_to_rgbx(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                     std::uint8_t* __restrict rgbx) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t luma = y[i];
    const std::int32_t blue = cb[i] - 128;
    const std::int32_t red = cr[i] - 128;
    // 1.402, 1.772, 0.344136 and 0.714136 in 16 bits, as libjpeg rounds them
    std::int32_t r = luma + ((91881 * red + 32768) >> 16);
    std::int32_t g = luma + ((-22554 * blue - 46802 * red + 32768) >> 16);
    std::int32_t b = luma + ((116130 * blue + 32768) >> 16);
    r = std::min(std::max(r, 0), 255);
    g = std::min(std::max(g, 0), 255);
    b = std::min(std::max(b, 0), 255);
    const std::uint32_t pixel = static_cast<std::uint32_t>(r | g << 8 | b << 16);
    std::memcpy(rgbx + 4 * i, &pixel, 4);
  }
}

}  // namespace

void JpegDecoder::upsample(const Component& component, std::size_t y, std::uint8_t* samples) {
  const std::size_t ratio_down = most_down_ / component.down;
  const std::uint8_t* near = component.plane.data() + y / ratio_down * component.stride;
  if (most_across_ == component.across) {
    std::memcpy(samples, near, width_);
    return;
  }
  sums_.resize(component.width + 2);
  std::int16_t* sums = sums_.data() + 1;
  if (ratio_down == 1) {
    for (std::size_t i = 0; i < component.width; ++i) sums[i] = near[i];
  } else {
    const std::size_t row = y / 2;
    const std::size_t other = y % 2 ? std::min(row + 1, component.height - 1) : (row ? row - 1 : 0);
    sum_rows_3_to_1(near, component.plane.data() + other * component.stride, component.width, sums);
  }
  sums[-1] = sums[0];
  sums[component.width] = sums[component.width - 1];
  if (ratio_down == 1) {
    spread_samples(sums, component.width, samples);
  } else {
    spread_sums(sums, component.width, samples);
  }
}

void JpegDecoder::row(std::size_t y, std::uint8_t* rgbx) {
  upsample(y);
  to_rgbx(samples_, width_, rgbx);
}

void JpegDecoder::row(std::size_t y, std::span<const std::uint32_t> columns, std::uint8_t* rgbx) {
  upsample(y);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    picked_[i].resize(columns.size() + 1);
    const std::uint8_t* const from = samples_[i].data();
    std::uint8_t* const to = picked_[i].data();
    for (std::size_t x = 0; x < columns.size(); ++x) to[x] = from[columns[x]];
  }
  to_rgbx(picked_, columns.size(), rgbx);
}

void JpegDecoder::upsample(std::size_t y) {
  for (std::size_t i = 0; i < components_.size(); ++i) {
    samples_[i].resize(width_ + 1);
    upsample(components_[i], y, samples_[i].data());
  }
}

void JpegDecoder::to_rgbx(const std::vector<std::uint8_t> (&samples)[3], std::size_t count, std::uint8_t* rgbx) const {
  if (components_.size() == 1) {
    for (std::size_t i = 0; i < count; ++i) std::memset(rgbx + 4 * i, samples[0][i], 4);
    return;
  }
  colours_to_rgbx(samples[0].data(), samples[1].data(), samples[2].data(), count, rgbx);
}

}  // namespace recordsmith
