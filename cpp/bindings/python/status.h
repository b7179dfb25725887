// Failures of the core as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include "base/status.h"
#include "bindings/python/gil.h"

namespace recordsmith {

namespace nb = nanobind;

// The name that recordsmith.records.core_failures knows a code by.
const char* code_name(Code code);

nb::object number_or_none(std::uint64_t value);  // None for kUnknown

// Paths and names may contain bytes that are not UTF-8: Python's surrogate escapes represent them.
nb::object text_of(const std::string& bytes);

// Raises what recordsmith.records.core_failures makes of a failure; does nothing if there is none. Needs the GIL.
void raise_if_failed(const Status& status);

// Runs `work` without the GIL and raises what it reports.
template <typename Work>
void run(Work work) {
  Status status;
  {
    const GilRelease released;
    status = work();
  }
  raise_if_failed(status);
}

}  // namespace recordsmith
