#include "bindings/python/status.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace recordsmith {

const char* code_name(Code code) {
  switch (code) {
    case Code::kCorruptLength:
      return "corrupt_length";
    case Code::kCorruptData:
      return "corrupt_data";
    case Code::kTruncated:
      return "truncated";
    case Code::kTooLarge:
      return "too_large";
    case Code::kCompression:
      return "compression";
    case Code::kSystem:
      return "system";
    case Code::kMalformed:
      return "malformed";
    case Code::kMissingFeature:
      return "missing_feature";
    case Code::kWrongKind:
      return "wrong_kind";
    case Code::kWrongCount:
      return "wrong_count";
    case Code::kWrongByteLength:
      return "wrong_byte_length";
    case Code::kChanged:
      return "changed";
    case Code::kStaleIndex:
      return "stale_index";
    case Code::kForeign:
    case Code::kInvalidArgument:
      break;
  }
  return "invalid_argument";
}

nb::object number_or_none(std::uint64_t value) { return value == kUnknown ? nb::none() : nb::cast(value); }

nb::object text_of(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

void raise_if_failed(const Status& status) {
  if (status.is_ok()) return;
  const Failure& failure = status.failure();
  if (failure.code == Code::kForeign) {
    auto* const raised = static_cast<PyObject*>(failure.cause.get());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
    throw nb::python_error();
  }
  nb::list names;
  for (const std::string& name : failure.names) names.append(text_of(name));
  const auto failures =
      nb::steal(run_python([] { return PyImport_ImportModule("recordsmith.records.core_failures"); }));
  if (!failures.is_valid()) throw nb::python_error();
  const nb::object exception = call_python(
      failures.attr("exception_for"), code_name(failure.code), text_of(failure.path), number_or_none(failure.offset),
      number_or_none(failure.record), text_of(failure.feature), text_of(failure.found), text_of(failure.expected),
      text_of(failure.detail), names, failure.system_error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace recordsmith
