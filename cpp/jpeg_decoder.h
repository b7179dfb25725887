// Decoding the JPEGs that datasets are made of: sequential, Huffman coded, 8 bits, grey or YCbCr.
//
// The loader resizes pictures, and a bilinear resize looks at four pixels for each of its own. Of a large picture that
// is a small part. So decoding is split: the entropy-coded data must be gone through as a whole, but only the blocks
// that hold wanted pixels are transformed, and only the wanted rows are made into colours.
//
//   bytes ──► stuffing out ──► Huffman ──► blocks ──► planes (Y, Cb, Cr) ──► rows of RGBx
//                              all of it   wanted                          wanted
//
// The results are those of libjpeg-turbo to the bit (accurate integer transform, smooth upsampling), which OpenCV and
// TensorFlow use. Anything unusual, and anything wrong with the data, is refused, and left to that library: whatever
// it makes of a damaged file then stays the one truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recordsmith {

// Which rows and columns of a picture are wanted; what is outside of these masks is not made.
struct WantedPixels {
  std::vector<std::uint8_t> rows;     // one entry a row of the picture, not 0 if wanted
  std::vector<std::uint8_t> columns;  // one entry a column
};

enum class JpegSupport {
  kPlain,        // can be decoded here
  kOriented,     // the same, but there is EXIF data, which may say that the picture is to be turned
  kUnsupported,  // progressive, arithmetic, CMYK, 12 bits, damaged, or no JPEG at all
};

class JpegDecoder {
 public:
  // Reads the header. The data must stay where they are until the decoder is done with them.
  JpegSupport open(const std::uint8_t* data, std::size_t size);

  std::size_t height() const { return height_; }
  std::size_t width() const { return width_; }

  // Decodes what is wanted. False if the data are damaged in any way.
  bool decode(const WantedPixels& wanted);

  // Makes one wanted row: four bytes a pixel, of which the last one says nothing. Grey pictures have R = G = B.
  void row(std::size_t y, std::uint8_t* rgbx);
  // The same for some of its columns only, one after the other.
  void row(std::size_t y, std::span<const std::uint32_t> columns, std::uint8_t* rgbx);

 private:
  struct HuffmanTable;

  struct Component {
    int id = 0;
    std::size_t across = 1;  // sampling factors
    std::size_t down = 1;
    int quantization = 0;
    int dc_table = 0;
    int ac_table = 0;
    std::size_t width = 0;  // in samples, as far as they belong to the picture
    std::size_t height = 0;
    std::size_t stride = 0;  // of its plane, whole blocks
    std::vector<std::uint8_t> plane;
    std::vector<std::uint8_t> block_columns;  // whether a column of blocks is wanted
    std::vector<std::uint8_t> block_rows;
  };

  bool read_quantization(const std::uint8_t* at, std::size_t size);
  bool read_huffman(const std::uint8_t* at, std::size_t size);
  bool read_frame(const std::uint8_t* at, std::size_t size);
  bool read_scan(const std::uint8_t* at, std::size_t size);
  bool unstuff(const std::uint8_t* at, const std::uint8_t* end);
  void want(const WantedPixels& wanted);
  void upsample(std::size_t y);
  void upsample(const Component& component, std::size_t y, std::uint8_t* samples);
  void to_rgbx(const std::vector<std::uint8_t> (&samples)[3], std::size_t count, std::uint8_t* rgbx) const;

  std::size_t height_ = 0;
  std::size_t width_ = 0;
  std::size_t restart_interval_ = 0;
  std::size_t most_across_ = 1;
  std::size_t most_down_ = 1;
  std::vector<Component> components_;
  std::uint16_t quantization_[4][64] = {};  // in the order of the file
  bool has_quantization_[4] = {};
  std::vector<HuffmanTable> huffman_;  // DC 0 to 3, then AC 0 to 3
  const std::uint8_t* scan_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::vector<std::uint8_t> bits_;          // the scan without stuffing and markers
  std::vector<std::size_t> interval_ends_;  // in bits_, one for each restart interval
  std::vector<std::uint8_t> samples_[3];    // a row of each component at full width
  std::vector<std::uint8_t> picked_[3];     // some of them
  std::vector<std::int16_t> sums_;
};

// Where the private table is known: for vectors of it.
struct JpegDecoder::HuffmanTable {
  // Looking up this many bits finds most codes together with the bits of their value.
  static constexpr int kLookBits = 12;

  // What the next bits say of a block's coefficients: one of them, and where the lookup has bits enough, the one after
  // it.
  struct Pair {
    std::int16_t value = 0;
    std::int16_t next_value = 0;  // 0 if there is no second one, and at the end of the block
    std::uint8_t bits = 0;        // of both together; 0: the code is longer than the lookup
    std::uint8_t first_bits = 0;
    std::uint8_t run = 0;   // zeros before the first one; kEndOfBlock leads out of the block
    std::uint8_t step = 1;  // from the first to the second one; the top bit says that this is one, or the block's end
  };

  bool present = false;
  std::vector<std::int32_t> fast;         // value << 16 | run << 8 | length; 0: longer than the lookup
  std::vector<Pair> pairs;                // the same for two at a time; not for DC
  std::uint8_t made_from[17 + 256] = {};  // pictures of one source share their tables, which then need not be built
  std::uint8_t symbols[256] = {};
  std::int32_t largest[18] = {};  // the largest code of each length, shifted to 16 bits, or -1
  std::int32_t offset[17] = {};   // from a code to its symbol
  bool build(const std::uint8_t* counts, const std::uint8_t* values, std::size_t count, bool dc);
  void build_pairs();
};

}  // namespace recordsmith
