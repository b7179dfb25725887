// Images as numpy arrays.
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"
#include "images/area_resize.h"
#include "images/image_colour.h"
#include "images/image_fill.h"
#include "images/image_header.h"
#include "images/jpeg/jpeg_decoder.h"

namespace recordsmith {
namespace {

using Source = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Encoded = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Filled = nb::ndarray<nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Part = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
using Flips = std::tuple<bool, bool>;

void shrink(const Source& source, const Target& target) {
  const ImageSize size{source.shape(0), source.shape(1)};
  const ImageSize wanted{target.shape(0), target.shape(1)};
  const std::size_t channels = source.shape(2);
  if (channels < 1 || channels > 4 || target.shape(2) != channels)
    throw nb::value_error("both must have the same number of channels, 1 to 4");
  if (wanted.height < 1 || wanted.width < 1) throw nb::value_error("the target has no pixels");
  if (wanted.height > size.height || wanted.width > size.width)
    throw nb::value_error("the target must not be larger than the source");
  const std::uint8_t* from = source.data();
  std::uint8_t* to = target.data();
  const GilRelease released;
  shrink_by_area(from, size, channels, to, wanted);
}

ImagePart checked_part(const Part& part, std::size_t height, std::size_t width) {
  const ImagePart found{std::get<0>(part), std::get<1>(part), std::get<2>(part), std::get<3>(part)};
  if (!found.is_inside(height, width)) throw nb::value_error("the part is not inside the image");
  return found;
}

FillSettings settings_for(const Filled& target, bool planar, const Flips& flips, float added, float scale) {
  FillSettings settings;
  settings.planar = planar;
  settings.height = target.shape(planar ? 1 : 0);
  settings.width = target.shape(planar ? 2 : 1);
  settings.channels = target.shape(planar ? 0 : 2);
  settings.flip_left_right = std::get<0>(flips);
  settings.flip_up_down = std::get<1>(flips);
  settings.added = added;
  settings.scale = scale;
  if (settings.height < 1 || settings.width < 1) throw nb::value_error("the target has no pixels");
  return settings;
}

bool is_bytes(const Filled& target) {
  if (target.dtype() == nb::dtype<std::uint8_t>()) return true;
  if (target.dtype() != nb::dtype<float>()) throw nb::value_error("the target must be uint8 or float32");
  return false;
}

void fill_pixels(const Source& source, const Filled& target, const Part& part, bool planar, const Flips& flips,
                 float added, float scale) {
  const ImagePart checked = checked_part(part, source.shape(0), source.shape(1));
  const FillSettings settings = settings_for(target, planar, flips, added, scale);
  const std::size_t channels = source.shape(2);
  if (channels != settings.channels || channels == 2 || channels < 1 || channels > 4) {
    throw nb::value_error("both must have the same number of channels, 1, 3 or 4");
  }
  const bool bytes = is_bytes(target);
  const std::uint8_t* pixels = source.data();
  const std::size_t width = source.shape(1);
  void* to = target.data();
  const GilRelease released;
  if (bytes) {
    fill_from_pixels(pixels, width, checked, settings, static_cast<std::uint8_t*>(to));
  } else {
    fill_from_pixels(pixels, width, checked, settings, static_cast<float*>(to));
  }
}

// Decodes one image after the other, and reuses its memory. Used by one thread at a time.
class PyJpegDecoder {
 public:
  int open(const Encoded& data) {
    data_ = data;
    const GilRelease released;
    support_ = decoder_.open(data_.data(), data_.size());
    return support_ == JpegSupport::kPlain ? 0 : support_ == JpegSupport::kOriented ? 1 : 2;
  }

  std::size_t height() const { return decoder_.height(); }
  std::size_t width() const { return decoder_.width(); }

  bool fill(const Filled& target, const Part& part, bool planar, const Flips& flips, float added, float scale) {
    if (support_ == JpegSupport::kUnsupported) throw nb::value_error("no image is open");
    const ImagePart checked = checked_part(part, decoder_.height(), decoder_.width());
    const FillSettings settings = settings_for(target, planar, flips, added, scale);
    if (settings.channels != 3) throw nb::value_error("the target must have 3 channels");
    const bool bytes = is_bytes(target);
    void* to = target.data();
    const GilRelease released;
    return bytes ? fill_from_jpeg(decoder_, checked, settings, static_cast<std::uint8_t*>(to))
                 : fill_from_jpeg(decoder_, checked, settings, static_cast<float*>(to));
  }

 private:
  JpegDecoder decoder_;
  JpegSupport support_ = JpegSupport::kUnsupported;
  Encoded data_;
};

nb::object image_header(const nb::bytes& data) {
  const auto header = read_image_header(static_cast<const std::uint8_t*>(data.data()), data.size());
  if (!header.has_value()) return nb::none();
  return nb::make_tuple(image_format_name(header->format), header->height, header->width, header->channels,
                        header->orientation, header->bits, header->is_plain);
}

template <void (*adjust)(float*, std::size_t, std::size_t, float)>
void adjust_pixels(const Floats& pixels, float factor) {
  const std::size_t channels = pixels.shape(2);
  if (channels < 1 || channels > 4) throw nb::value_error("there must be 1 to 4 channels");
  const std::size_t count = pixels.shape(0) * pixels.shape(1);
  float* data = pixels.data();
  const GilRelease released;
  adjust(data, count, channels, factor);
}

}  // namespace

void bind_images(nb::module_& module) {
  module.def("read_image_header", &image_header, nb::arg("data"));
  module.def("shrink_by_area", &shrink, nb::arg("source").noconvert(), nb::arg("target").noconvert());
  module.def("fill_image", &fill_pixels, nb::arg("source").noconvert(), nb::arg("target").noconvert(), nb::kw_only(),
             nb::arg("part"), nb::arg("planar"), nb::arg("flips"), nb::arg("added"), nb::arg("scale"));
  module.def("adjust_contrast", &adjust_pixels<adjust_contrast>, nb::arg("pixels").noconvert(), nb::arg("factor"));
  module.def("adjust_saturation", &adjust_pixels<adjust_saturation>, nb::arg("pixels").noconvert(), nb::arg("factor"));
  // Memory for a batch, with content left over from earlier use; it goes back to the pool with the last array over it.
  module.def("pooled_bytes", [](std::size_t size) { return export_bytes(Buffer(size), size); }, nb::arg("size"));
  nb::class_<PyJpegDecoder>(module, "JpegDecoder")
      .def(nb::init<>())
      .def("open", &PyJpegDecoder::open, nb::arg("data").noconvert())
      .def_prop_ro("height", &PyJpegDecoder::height)
      .def_prop_ro("width", &PyJpegDecoder::width)
      .def("fill", &PyJpegDecoder::fill, nb::arg("target").noconvert(), nb::kw_only(), nb::arg("part"),
           nb::arg("planar"), nb::arg("flips"), nb::arg("added"), nb::arg("scale"));
}

}  // namespace recordsmith
