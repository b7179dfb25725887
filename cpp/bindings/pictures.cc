// Pictures as numpy arrays.
#include <nanobind/ndarray.h>

#include "../area_resize.h"
#include "parts.h"

namespace recordsmith {
namespace {

using Source = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void shrink(const Source& source, const Target& target) {
  const PictureSize size{source.shape(0), source.shape(1)};
  const PictureSize wanted{target.shape(0), target.shape(1)};
  const std::size_t channels = source.shape(2);
  if (channels < 1 || channels > 4 || target.shape(2) != channels) throw nb::value_error("1 to 4 channels, in both");
  if (wanted.height < 1 || wanted.width < 1) throw nb::value_error("the target has no pixels");
  if (wanted.height > size.height || wanted.width > size.width) throw nb::value_error("the target is larger");
  const std::uint8_t* from = source.data();
  std::uint8_t* to = target.data();
  const nb::gil_scoped_release released;
  shrink_by_area(from, size, channels, to, wanted);
}

}  // namespace

void bind_pictures(nb::module_& module) {
  module.def("shrink_by_area", &shrink, nb::arg("source").noconvert(), nb::arg("target").noconvert());
}

}  // namespace recordsmith
