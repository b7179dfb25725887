#include "images/jpeg/jpeg_decoder.h"

#include <algorithm>
#include <cstring>

#include "images/jpeg/jpeg_colours.h"

namespace recordsmith {
namespace {

// From the order of the file to rows and columns.
constexpr std::uint8_t kNaturalOrder[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                            12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                            35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                            58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// The same, where everything outside the block maps to one place after it: at most 63, a run, and a step.
struct Places {
  std::uint8_t natural[63 + 255 + 17];
  constexpr Places() : natural() {
    for (std::size_t k = 0; k < sizeof natural; ++k) natural[k] = k < 64 ? kNaturalOrder[k] : 64;
  }
};
constexpr Places kPlaceOf;

// Larger ones are left to the library, one at a time: every thread keeps its memory from image to image.
constexpr std::size_t kMostPixels = 16'000'000;
// Upsampling looks at one row above and one below.
constexpr std::size_t kUnitRowsHeld = 2;
constexpr std::size_t kMostBlocks = 6;  // of a unit: four of luma, and two of chroma
constexpr std::size_t kBlockPlaces = 64 + 16;
constexpr int kDamaged = -1;
// A block has at most 64 codes of 16 bits, each with 15 bits of value.
constexpr std::size_t kMostBlockBytes = 64 * 32 / 8;

std::size_t two_bytes(const std::uint8_t* at) { return static_cast<std::size_t>(at[0]) << 8 | at[1]; }

std::size_t divided_up(std::size_t number, std::size_t by) { return (number + by - 1) / by; }

// Reads the codes of one block, whose places are 0 before. Returns the last place that has a coefficient, or kDamaged.
inline __attribute__((always_inline)) int read_block(JpegBits& bits, const JpegHuffmanTable& dc_table,
                                                     const JpegHuffmanTable& ac_table, std::int32_t* mean,
                                                     std::int16_t* block) {
  const std::int32_t* const dc_fast = dc_table.fast.data();
  const std::int32_t* const ac_fast = ac_table.fast.data();
  const JpegHuffmanTable::Pair* const ac_pairs = ac_table.pairs.data();
  // --- the difference of the mean to that of the block before ---
  bits.fill();
  std::int32_t entry = dc_fast[bits.window >> (64 - JpegHuffmanTable::kLookBits)];
  std::int32_t difference;
  if (entry != 0) {
    bits.skip(entry & 0xFF);
    difference = entry >> 16;
  } else {
    int length = 1;
    const auto code = static_cast<std::int32_t>(bits.window >> 48);
    while (code > dc_table.largest[length]) ++length;
    if (length > 16) return kDamaged;
    const int size = dc_table.symbols[((code >> (16 - length)) + dc_table.offset[length]) & 0xFF];
    bits.skip(length);
    difference = extended(bits.take(size), size);
  }
  *mean += difference;
  block[0] = static_cast<std::int16_t>(*mean);
  // --- the other coefficients: runs of zeros, and values ---
  std::size_t k = 1;
  std::size_t last_k = 63;
  while (true) {
    bits.fill();
    // The window has bits for four lookups.
    for (int n = 0; n < 4; ++n) {
      const JpegHuffmanTable::Pair& pair = ac_pairs[bits.window >> (64 - JpegHuffmanTable::kLookBits)];
      const std::size_t first = k + pair.run;
      block[kPlaceOf.natural[first]] = pair.value;
      // The second one: if there is none, a zero where there is a zero already.
      block[kPlaceOf.natural[first + pair.step]] = pair.next_value;
      const std::size_t next = first + pair.advance;
      if (next <= 63) [[likely]] {
        k = next;
        bits.skip(pair.bits);
        continue;
      }
      if (first < 63) {  // with the second one, which is the last place or the end
        bits.skip(pair.bits);
        if (next >= kEndOfBlock) last_k = first;
        if (next == 64 || next >= kEndOfBlock) return static_cast<int>(last_k);
        return kDamaged;
      }
      if (first == 63) {
        // What follows belongs to the next block.
        bits.skip(ac_fast[bits.window >> (64 - JpegHuffmanTable::kLookBits)] & 0xFF);
        return static_cast<int>(last_k);
      }
      if (first < kEndOfBlock) return kDamaged;
      if (first < kLongCode) {
        bits.skip(pair.bits);
        last_k = k - 1;
        return static_cast<int>(last_k);
      }
      bits.fill();
      n = 4;
      int length = 1;
      const auto code = static_cast<std::int32_t>(bits.window >> 48);
      while (code > ac_table.largest[length]) ++length;
      if (length > 16) return kDamaged;
      const int symbol = ac_table.symbols[((code >> (16 - length)) + ac_table.offset[length]) & 0xFF];
      const int size = symbol & 15;
      const int run = symbol >> 4;
      if (size == 0 && run != 15 && run != 0) return kDamaged;
      bits.skip(length);
      const std::int32_t value = extended(bits.take(size), size);
      if (size == 0 && run == 0) {
        last_k = k - 1;
        return static_cast<int>(last_k);
      }
      k += static_cast<std::size_t>(run);
      if (k > 63) return kDamaged;
      block[kNaturalOrder[k]] = static_cast<std::int16_t>(value);
      if (++k == 64) return static_cast<int>(last_k);
    }
  }
}

}  // namespace

JpegSupport JpegDecoder::open(const std::uint8_t* data, std::size_t size) {
  restart_interval_ = 0;
  components_.clear();
  std::fill(std::begin(has_quantization_), std::end(has_quantization_), false);
  huffman_.resize(8);
  for (JpegHuffmanTable& table : huffman_) table.present = false;
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
        // Three components are YCbCr by JFIF, by Adobe's marker, or by their usual numbers.
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
        // Comments and application data are skipped; anything else is refused.
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
  // Very small images are upsampled differently; they are left to the library.
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
  if (count == 1) components_[0].across = components_[0].down = 1;  // without other components it has no meaning
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

// Copies the scan without the zeros that follow each 0xFF in it, and notes where restart markers were.
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
  // Zeros, so that bits read beyond the end do not depend on earlier images.
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
    component.held = kUnitRowsHeld * component.down * 8;
    component.plane.resize(component.stride * component.held);
    component.block_columns.assign(blocks_across, 0);
    component.block_rows.assign(blocks_down, 0);
    const auto mark = [](const std::vector<std::uint8_t>& pixels, std::size_t ratio, std::size_t size,
                         std::vector<std::uint8_t>& blocks) {
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        if (!pixels[i]) continue;
        const std::size_t sample = i / ratio;
        blocks[sample / 8] = 1;
        if (ratio == 1) continue;
        // Upsampling looks at the neighbour on the pixel's side.
        const std::size_t neighbour = i % 2 ? std::min(sample + 1, size - 1) : (sample ? sample - 1 : 0);
        blocks[neighbour / 8] = 1;
      }
    };
    mark(wanted.rows, ratio_down, component.height, component.block_rows);
    mark(wanted.columns, ratio_across, component.width, component.block_columns);
    component.few_rows.assign(blocks_down, {});
    component.few_columns.assign(blocks_across, {});
    if (ratio_across == 1 && ratio_down == 1) want_few(wanted, component);
  }
}

// Notes which samples of blocks are wanted, where they are few.
void JpegDecoder::want_few(const WantedPixels& wanted, Component& component) {
  for (std::size_t block = 0; block < component.few_rows.size(); ++block) {
    BlockRows& few = component.few_rows[block];
    std::size_t count = 0;
    for (std::size_t row = 0; row < 8 && block * 8 + row < wanted.rows.size(); ++row) {
      if (!wanted.rows[block * 8 + row]) continue;
      if (count < 4) std::fill(few.rows + count, few.rows + 4, static_cast<std::uint8_t>(row));
      ++count;
    }
    few.are_few = count > 0 && count <= 4;
  }
  for (std::size_t block = 0; block < component.few_columns.size(); ++block) {
    BlockPairs& few = component.few_columns[block];
    std::size_t count = 0;
    for (std::size_t column = 0; column < 8 && block * 8 + column < wanted.columns.size(); ++column) {
      if (!wanted.columns[block * 8 + column]) continue;
      if (count > 0 && count <= 2 && column <= few.firsts[count - 1] + std::size_t{1}) continue;  // the pair has it
      if (count < 2) few.firsts[count] = static_cast<std::uint8_t>(std::min<std::size_t>(column, 6));
      ++count;
    }
    few.count = count <= 2 ? count : 0;
  }
}

bool JpegDecoder::start(const WantedPixels& wanted) {
  if (!unstuff(scan_, end_)) return false;
  units_across_ = divided_up(width_, 8 * most_across_);
  units_down_ = divided_up(height_, 8 * most_down_);
  // Each block has two codes at least, of a bit at least.
  std::size_t blocks = 0;
  for (const Component& component : components_) blocks += component.across * component.down;
  const std::size_t units = units_across_ * units_down_;
  if (units * blocks > interval_ends_.back() * 4) return false;
  const std::size_t intervals = restart_interval_ == 0 ? 1 : divided_up(units, restart_interval_);
  if (interval_ends_.size() != intervals) return false;
  want(wanted);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    for (int k = 0; k < 64; ++k) {
      const std::uint16_t scale = quantization_[components_[i].quantization][k];
      if (scale > 4096) return false;  // this is damage too
      scales_[i][kNaturalOrder[k]] = static_cast<std::int16_t>(scale);
    }
  }
  unit_ = 0;
  return true;
}

bool JpegDecoder::finish() { return decode_unit_rows(units_down_); }

// Continues until so many rows of units have been decoded.
bool JpegDecoder::decode_unit_rows(std::size_t count) {
  const std::size_t all = units_across_ * units_down_;
  const std::size_t wanted = units_across_ * count;
  while (unit_ < wanted) {
    const std::size_t interval = restart_interval_ == 0 ? 0 : unit_ / restart_interval_;
    const std::size_t first = interval * restart_interval_;
    const std::size_t last = restart_interval_ == 0 ? all : std::min(all, first + restart_interval_);
    if (unit_ == first) {
      read_ = {bits_.data() + (interval == 0 ? 0 : interval_ends_[interval - 1])};
      std::fill(std::begin(means_), std::end(means_), 0);
    }
    const std::uint8_t* end = bits_.data() + interval_ends_[interval];
    if (!decode_units(std::min(last, wanted), end)) return false;
    // Only bits that fill up a byte, all of them set, follow the last code.
    if (unit_ == last && end - read_.position() > 0) return false;
  }
  return true;
}

// Decodes the units up to `last`, all of one interval, whose bits end at `end`.
bool JpegDecoder::decode_units(std::size_t last, const std::uint8_t* end) {
  const BlockTransform transform = block_transform();
  const SampleTransform transform_samples = sample_transform();
  // All blocks of a unit are read before they are transformed: the processor cannot load as a whole what it has just
  // written in small pieces, and would wait for each block.
  alignas(32) std::int16_t blocks[kMostBlocks][kBlockPlaces] = {};
  int lasts[kMostBlocks];
  JpegBits bits = read_;
  for (; unit_ < last; ++unit_) {
    const std::size_t unit_row = unit_ / units_across_;
    const std::size_t unit_column = unit_ % units_across_;
    std::size_t count = 0;
    for (std::size_t i = 0; i < components_.size(); ++i) {
      const Component& component = components_[i];
      const JpegHuffmanTable& dc_table = huffman_[static_cast<std::size_t>(component.dc_table)];
      const JpegHuffmanTable& ac_table = huffman_[static_cast<std::size_t>(4 + component.ac_table)];
      for (std::size_t part = 0; part < component.across * component.down; ++part, ++count) {
        lasts[count] = read_block(bits, dc_table, ac_table, &means_[i], blocks[count]);
        if (lasts[count] == kDamaged || bits.position() > end) return false;
      }
    }
    count = 0;
    for (std::size_t i = 0; i < components_.size(); ++i) {
      Component& component = components_[i];
      for (std::size_t part = 0; part < component.across * component.down; ++part, ++count) {
        std::int16_t* const block = blocks[count];
        const std::size_t row = unit_row * component.down + part / component.across;
        const std::size_t column = unit_column * component.across + part % component.across;
        if (!component.block_rows[row] || !component.block_columns[column]) {
          clear_block(block);
          continue;
        }
        std::uint8_t* to = component.plane.data() + row * 8 % component.held * component.stride + column * 8;
        const BlockRows& few_rows = component.few_rows[row];
        const BlockPairs& few_columns = component.few_columns[column];
        bool good;
        if (lasts[count] == 0) {
          good = fill_block(block[0], scales_[i][0], to, component.stride);
        } else if (few_rows.are_few && few_columns.count > 0 && transform_samples != nullptr) {
          good = transform_samples(block, scales_[i], few_rows, few_columns, to, component.stride);
        } else {
          good = transform(block, scales_[i], lasts[count] <= 9, to, component.stride);
        }
        if (!good) return false;
      }
    }
  }
  read_ = bits;
  return true;
}

// Decodes the samples of a row, and of the rows above and below.
bool JpegDecoder::decode_for_row(std::size_t y) {
  const std::size_t below = std::min(y + 1, height_ - 1);
  if (!decode_unit_rows(below / (8 * most_down_) + 1)) return false;
  const std::size_t above = y < 2 ? 0 : y - 2;
  return above / (8 * most_down_) + kUnitRowsHeld >= unit_ / units_across_;
}

// A row of a component at full width: in its plane if it has that width, else in `made`.
const std::uint8_t* JpegDecoder::samples_of(const Component& component, std::size_t y,
                                            std::vector<std::uint8_t>& made) {
  const std::size_t ratio_down = most_down_ / component.down;
  const auto row_at = [&](std::size_t row) { return component.plane.data() + row % component.held * component.stride; };
  const std::uint8_t* near = row_at(y / ratio_down);
  if (most_across_ == component.across) return near;
  made.resize(width_ + 1);
  sums_.resize(component.width + 2);
  std::int16_t* sums = sums_.data() + 1;
  if (ratio_down == 1) {
    for (std::size_t i = 0; i < component.width; ++i) sums[i] = near[i];
  } else {
    const std::size_t row = y / 2;
    const std::size_t other = y % 2 ? std::min(row + 1, component.height - 1) : (row ? row - 1 : 0);
    sum_rows_3_to_1(near, row_at(other), component.width, sums);
  }
  sums[-1] = sums[0];
  sums[component.width] = sums[component.width - 1];
  if (ratio_down == 1) {
    spread_samples(sums, component.width, made.data());
  } else {
    spread_sums(sums, component.width, made.data());
  }
  return made.data();
}

bool JpegDecoder::row(std::size_t y, std::uint8_t* rgbx) {
  if (!decode_for_row(y)) return false;
  const std::uint8_t* samples[3] = {};
  for (std::size_t i = 0; i < components_.size(); ++i) samples[i] = samples_of(components_[i], y, samples_[i]);
  to_rgbx(samples, width_, rgbx);
  return true;
}

bool JpegDecoder::row(std::size_t y, std::span<const std::uint32_t> pairs, std::uint8_t* rgbx) {
  if (!decode_for_row(y)) return false;
  const std::uint8_t* samples[3] = {};
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const std::uint8_t* const from = samples_of(components_[i], y, samples_[i]);
    picked_[i].resize(2 * pairs.size());
    std::uint8_t* const to = picked_[i].data();
    for (std::size_t x = 0; x < pairs.size(); ++x) std::memcpy(to + 2 * x, from + pairs[x], 2);
    samples[i] = to;
  }
  to_rgbx(samples, 2 * pairs.size(), rgbx);
  return true;
}

void JpegDecoder::to_rgbx(const std::uint8_t* const (&samples)[3], std::size_t count, std::uint8_t* rgbx) const {
  if (components_.size() == 1) {
    for (std::size_t i = 0; i < count; ++i) std::memset(rgbx + 4 * i, samples[0][i], 4);
    return;
  }
  colours_to_rgbx(samples[0], samples[1], samples[2], count, rgbx);
}

}  // namespace recordsmith
