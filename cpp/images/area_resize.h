// Shrinks images: each pixel of the result is the mean of the area that it covers, where pixels at the edges of that
// area count by the share that is inside.
//
// This is what OpenCV's INTER_AREA computes, several times faster: rows are summed first, where neighbouring values are
// all treated alike, and only the few summed rows are then gathered column by column.
//
//   source  ........    sums  ........    result  ....
//           ........  ─►              ─►
//           ........    one row of them for each row of the result
#pragma once

#include <cstddef>
#include <cstdint>

namespace recordsmith {

struct ImageSize {
  std::size_t height;
  std::size_t width;
};

// Resizes `source` (rows one after the other, `channels` values a pixel, 1 to 4) into `target`, which has room for the
// result. Neither side of the result is larger than that of the source, and none is 0.
void shrink_by_area(const std::uint8_t* source, ImageSize size, std::size_t channels, std::uint8_t* target,
                    ImageSize target_size);

}  // namespace recordsmith
