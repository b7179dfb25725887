// Decoding the JPEGs that datasets are made of: sequential, Huffman coded, 8 bits, grey or YCbCr.
//
// The loader resizes images, and a bilinear resize reads four source pixels for each pixel of the result. Of a large
// image that is a small part. So decoding is split: all entropy-coded data must be decoded, but only blocks with wanted
// pixels are transformed, and only wanted rows are converted to colours.
//
//   bytes ──► stuffing out ──► Huffman ──► blocks ──► planes (Y, Cb, Cr) ──► rows of RGBx
//                              all of it   wanted                          wanted
//
// Rows are requested from top to bottom, and the data are decoded as far as needed. Of the planes only two rows of
// units (the squares of all components' blocks that belong together) are held, which stay in the cache.
//
// The results are those of libjpeg-turbo to the bit (accurate integer transform, smooth upsampling), which OpenCV and
// TensorFlow use. Anything unusual and any damaged data is refused and left to that library, so that
// its result for a damaged file is the only one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "images/jpeg/jpeg_huffman.h"
#include "images/jpeg/jpeg_transform.h"

namespace recordsmith {

// Bits from the front. It reads up to 8 bytes beyond its position, so its memory has room behind the end.
struct JpegBits {
  const std::uint8_t* at = nullptr;
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

// Which rows and columns of an image are wanted; pixels outside of these masks are not decoded.
struct WantedPixels {
  std::vector<std::uint8_t> rows;     // one entry a row of the image, not 0 if wanted
  std::vector<std::uint8_t> columns;  // one entry a column
};

enum class JpegSupport {
  kPlain,        // can be decoded here
  kOriented,     // the same, but there is EXIF data, which may say that the image must be rotated
  kUnsupported,  // progressive, arithmetic, CMYK, 12 bits, damaged, or no JPEG at all
};

class JpegDecoder {
 public:
  // Reads the header. The data must stay in place until the decoder is done.
  JpegSupport open(const std::uint8_t* data, std::size_t size);

  std::size_t height() const { return height_; }
  std::size_t width() const { return width_; }

  // These are false if the data are damaged, or if no image could have such data. First:
  bool start(const WantedPixels& wanted);
  // Then each wanted row, from top to bottom: four bytes a pixel, of which the last one says nothing. Grey images
  // have R = G = B.
  bool row(std::size_t y, std::uint8_t* rgbx);
  // The same for some of its columns only: pairs of neighbours, of which the first are given.
  bool row(std::size_t y, std::span<const std::uint32_t> pairs, std::uint8_t* rgbx);
  // And last, since damage may follow.
  bool finish();

 private:
  struct Component {
    int id = 0;
    std::size_t across = 1;  // sampling factors
    std::size_t down = 1;
    int quantization = 0;
    int dc_table = 0;
    int ac_table = 0;
    std::size_t width = 0;  // in samples that belong to the image
    std::size_t height = 0;
    std::size_t stride = 0;  // of its plane, whole blocks
    std::size_t held = 0;    // rows of its plane, in turns
    std::vector<std::uint8_t> plane;
    std::vector<std::uint8_t> block_columns;  // whether a column of blocks is wanted
    std::vector<std::uint8_t> block_rows;
    std::vector<BlockRows> few_rows;  // which samples of them, if not many; for components at full size
    std::vector<BlockPairs> few_columns;
  };

  bool read_quantization(const std::uint8_t* at, std::size_t size);
  bool read_huffman(const std::uint8_t* at, std::size_t size);
  bool read_frame(const std::uint8_t* at, std::size_t size);
  bool read_scan(const std::uint8_t* at, std::size_t size);
  bool unstuff(const std::uint8_t* at, const std::uint8_t* end);
  void want(const WantedPixels& wanted);
  static void want_few(const WantedPixels& wanted, Component& component);
  bool decode_unit_rows(std::size_t count);
  bool decode_units(std::size_t last, const std::uint8_t* end);
  bool decode_for_row(std::size_t y);
  const std::uint8_t* samples_of(const Component& component, std::size_t y, std::vector<std::uint8_t>& made);
  void to_rgbx(const std::uint8_t* const (&samples)[3], std::size_t count, std::uint8_t* rgbx) const;

  std::size_t height_ = 0;
  std::size_t width_ = 0;
  std::size_t restart_interval_ = 0;
  std::size_t most_across_ = 1;
  std::size_t most_down_ = 1;
  std::vector<Component> components_;
  std::uint16_t quantization_[4][64] = {};  // in the order of the file
  bool has_quantization_[4] = {};
  std::vector<JpegHuffmanTable> huffman_;  // DC 0 to 3, then AC 0 to 3
  const std::uint8_t* scan_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::vector<std::uint8_t> bits_;          // the scan without stuffing and markers
  std::vector<std::size_t> interval_ends_;  // in bits_, one for each restart interval
  std::size_t units_across_ = 0;
  std::size_t units_down_ = 0;
  std::int16_t scales_[3][64] = {};  // of each component's coefficients, row by row
  // The state of decoding: the next unit, the bits before it, and the mean of the last block of each component.
  std::size_t unit_ = 0;
  JpegBits read_;
  std::int32_t means_[3] = {};
  std::vector<std::uint8_t> samples_[3];  // a row of each component at full width
  std::vector<std::uint8_t> picked_[3];   // some of them
  std::vector<std::int16_t> sums_;
};

}  // namespace recordsmith
