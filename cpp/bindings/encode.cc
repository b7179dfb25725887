// Python mappings turned into Examples and SequenceExamples.
#include "bindings/parts.h"
#include "bindings/python/gil.h"
#include "bindings/python/status.h"
#include "bindings/python/value_reader.h"
#include "examples/example_encoder.h"

namespace recordsmith {
namespace {

std::string_view key_of(PyObject* key) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &size) : nullptr;
  if (text == nullptr) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a feature's name must be a str");
    throw nb::python_error();
  }
  return {text, static_cast<std::size_t>(size)};
}

// Reads `value` as it is, or as what `normalize(name, value)` makes of it: a float32 or int64 array, or a list of
// bytes.
FeatureValues values_of(nb::handle name, nb::handle value, const nb::callable& normalize, ValueReader* reader,
                        nb::list* kept) {
  const ValueRule any;
  FeatureValues values;
  if (reader->read(value.ptr(), any, &values)) return values;
  const nb::object canonical = call_python(normalize, name, value);
  kept->append(canonical);
  if (reader->read(canonical.ptr(), any, &values)) return values;
  values.count = 0;
  values.kind = Kind::kBytes;  // an empty list: of bytes, since arrays keep their kind
  return values;
}

nb::bytes bytes_of(const std::vector<std::uint8_t>& data) { return nb::bytes(data.data(), data.size()); }

std::vector<NamedFeature> features_of(const nb::dict& mapping, const nb::callable& normalize, ValueReader* reader,
                                      nb::list* kept) {
  std::vector<NamedFeature> features;
  features.reserve(mapping.size());
  for (const auto& [name, value] : mapping) {
    features.push_back({key_of(name.ptr()), values_of(name, value, normalize, reader, kept)});
  }
  return features;
}

nb::bytes encode_mapping(const nb::dict& mapping, const nb::callable& normalize) {
  prepare_exceptions();
  ValueReader reader;
  nb::list kept;
  std::vector<NamedFeature> features = features_of(mapping, normalize, &reader, &kept);
  std::vector<std::uint8_t> out;
  raise_if_failed(encode_example(features, &out));
  return bytes_of(out);
}

nb::bytes encode_sequence(const nb::dict& context, const nb::dict& lists, const nb::callable& normalize) {
  prepare_exceptions();
  ValueReader reader;
  nb::list kept;
  std::vector<NamedFeature> features = features_of(context, normalize, &reader, &kept);
  std::vector<NamedFeatureList> named_lists;
  for (const auto& [name, steps] : lists) {
    NamedFeatureList list{key_of(name.ptr()), {}};
    for (const nb::handle step : nb::cast<nb::list>(steps)) {
      list.steps.push_back(step.is_none() ? FeatureValues() : values_of(name, step, normalize, &reader, &kept));
    }
    named_lists.push_back(std::move(list));
  }
  std::vector<std::uint8_t> out;
  raise_if_failed(encode_sequence_example(features, named_lists, &out));
  return bytes_of(out);
}

}  // namespace

void bind_encoding(nb::module_& module) {
  module.def("encode_example", &encode_mapping, nb::arg("mapping"), nb::arg("normalize"));
  module.def("encode_sequence_example", &encode_sequence, nb::arg("context"), nb::arg("feature_lists"),
             nb::arg("normalize"));
}

}  // namespace recordsmith
