// Records with their framing, one after the other in a numpy array, and where each of them begins.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "records/framing.h"

namespace recordsmith {

namespace nb = nanobind;

using FrameBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FrameOffsets = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using FrameNumbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Offsets lead into memory: one entry more than records, rising by at least the framing, and ending within the frames.
inline void check_frame_offsets(const FrameBytes& frames, const FrameOffsets& offsets) {
  if (offsets.size() == 0) throw nb::value_error("offsets have an entry for the end");
  const std::uint64_t* at = offsets.data();
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (at[i] > frames.size() || at[i - 1] > at[i] || at[i] - at[i - 1] < kFramingBytes) {
      throw nb::value_error("the offsets do not fit the frames");
    }
  }
}

}  // namespace recordsmith
