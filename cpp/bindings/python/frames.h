// Framed records (records/framing/frames.h) in numpy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "records/framing/frames.h"

namespace recordsmith {

namespace nb = nanobind;

using FrameBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FrameOffsets = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using FrameNumbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline Frames frames_of(const FrameBytes& bytes, const FrameOffsets& offsets) {
  const Frames frames{{bytes.data(), bytes.size()}, {offsets.data(), offsets.size()}};
  if (!frames.are_sound()) throw nb::value_error("the offsets do not fit the frames");
  return frames;
}

}  // namespace recordsmith
