// Calls from the core back into Python, on any thread.
#pragma once

#include <memory>

#include "base/status.h"
#include "bindings/python/gil.h"

namespace recordsmith {

// An object of Python that may be let go of on any thread.
inline std::shared_ptr<void> shared_object(nb::object object) {
  return {object.release().ptr(), [](void* held) {
            const GilHold hold;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

// Runs `work` with the GIL; what it raises becomes a failure, which raise_if_failed raises again.
template <typename Work>
Status in_python(Work work) {
  const GilHold hold;
  try {
    work();
  } catch (nb::python_error& error) {
    Failure failure;
    failure.code = Code::kForeign;
    failure.cause = shared_object(nb::borrow(error.value()));
    return Status(std::move(failure));
  }
  return Status::ok();
}

}  // namespace recordsmith
