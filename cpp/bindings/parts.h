// The pieces of the Python module; module.cc puts them together.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/python/object_access.h"
#include "columns/feature_plan.h"
#include "files/byte_source.h"

namespace recordsmith {

namespace nb = nanobind;

void bind_decoding(nb::module_& module);
void bind_encoding(nb::module_& module);
void bind_indexing(nb::module_& module);
void bind_padding(nb::module_& module);
void bind_permutation(nb::module_& module);
void bind_images(nb::module_& module);
void bind_reading(nb::module_& module);
void bind_record_access(nb::module_& module);
void bind_remote_files(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_string_tensor(nb::module_& module);
void bind_survey(nb::module_& module);
void bind_recovery(nb::module_& module);
void bind_text_scan(nb::module_& module);
void bind_writing(nb::module_& module);

// What Python calls Plan.
struct Plan {
  std::shared_ptr<const FeaturePlan> plan;
};

// What is behind a RecordSink of Python.
class RecordSink;
RecordSink* sink_of(nb::handle sink);

// A path as the operating system wants it: names that are not UTF-8 come back from Python as they went there.
inline std::string path_of(nb::handle path) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  std::string name(bytes_view(bytes.ptr()));
  if (name.find('\0') != std::string::npos) throw nb::value_error("embedded null byte");
  return name;
}

inline std::vector<std::string> paths_of(const nb::list& paths) {
  std::vector<std::string> result;
  for (const nb::handle path : paths) result.push_back(path_of(path));
  return result;
}

// "auto" (nothing), "none", "gzip" or "zlib"; Python has checked the name.
inline std::optional<Compression> compression_of(const std::string& name) {
  if (name == "gzip") return Compression::kGzip;
  if (name == "zlib") return Compression::kZlib;
  if (name == "none") return Compression::kNone;
  return std::nullopt;
}

// "bytes", "float" or "int64"; Python has checked the name.
inline Kind kind_of(const std::string& name) {
  if (name == "float") return Kind::kFloat;
  return name == "int64" ? Kind::kInt64 : Kind::kBytes;
}

}  // namespace recordsmith
