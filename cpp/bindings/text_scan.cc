// Searches in the text of tables.
#include "columns/text_scan.h"

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"

namespace recordsmith {
namespace {

const std::uint8_t* bytes_of(const nb::bytes& text) { return static_cast<const std::uint8_t*>(text.data()); }

nb::object places_of(const nb::bytes& text, std::uint8_t byte) {
  PooledArray<std::int64_t> places;
  places.reserve(1, 0);
  std::size_t found = 0;
  {
    const GilRelease released;
    found = find_byte(bytes_of(text), text.size(), byte, &places);
  }
  return export_int64s(std::move(places), found);
}

bool leading_zeros_in(const nb::bytes& text, const nb::bytes& separators) {
  if (separators.size() != 4) throw nb::value_error("four separators are needed");
  const GilRelease released;
  return has_leading_zeros(bytes_of(text), text.size(), bytes_of(separators));
}

std::size_t json_depth_of(const nb::bytes& text) {
  const GilRelease released;
  return json_depth(bytes_of(text), text.size());
}

}  // namespace

void bind_text_scan(nb::module_& module) {
  module.def("find_byte", &places_of, nb::arg("text"), nb::arg("byte"));
  module.def("has_leading_zeros", &leading_zeros_in, nb::arg("text"), nb::arg("separators"));
  module.def("json_depth", &json_depth_of, nb::arg("text"));
}

}  // namespace recordsmith
