// Work without the GIL, and calls back into Python, on threads that may outlive the interpreter.
//
// Python does not wait for daemon threads when it ends. Before 3.14, such a thread is ended by pthread_exit where it
// asks for the GIL again. That unwinds its stack like an exception, through C++ frames: a destructor that must not
// throw then ends the whole program by SIGABRT, and other destructors would let go of Python objects without the GIL.
// So a thread that finds the interpreter ending stops where it is, for ever, as Python does from 3.14 on; the process
// ends without it.
//
// Use GilRelease and GilHold instead of nanobind's guards (tests/test_house_rules.py checks it), and call_python or
// run_python for every call that runs code of Python.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <exception>

#include "base/thread_memory.h"

namespace recordsmith {

namespace nb = nanobind;

#ifdef Py_LIMITED_API
// Functions that every version of Python has, but that are not in its stable ABI: found by name.
using PythonState = int (*)();
inline PythonState python_state(const char* name) { return reinterpret_cast<PythonState>(dlsym(RTLD_DEFAULT, name)); }

inline bool is_interpreter_ending() {
  static const PythonState from_3_13 = python_state("Py_IsFinalizing");
  static const PythonState is_ending = from_3_13 != nullptr ? from_3_13 : python_state("_Py_IsFinalizing");
  return is_ending() != 0;
}
inline bool holds_gil() {
  static const PythonState check = python_state("PyGILState_Check");
  return check() != 0;
}
#else
inline bool is_interpreter_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}
inline bool holds_gil() { return PyGILState_Check() != 0; }
#endif

[[noreturn]] inline void stop_thread_for_ever() {
  for (;;) pause();
}

// Releases the GIL, which this thread holds, until the end of the scope.
class GilRelease {
 public:
  // The thread that ends the interpreter keeps the GIL: no other could run Python any more.
  GilRelease() : state_(is_interpreter_ending() ? nullptr : PyEval_SaveThread()) { prepare_exceptions(); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() {
    if (state_ == nullptr) return;
    if (is_interpreter_ending()) stop_thread_for_ever();  // the thread's state may be gone already
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // Python called pthread_exit
      stop_thread_for_ever();
    }
  }

 private:
  PyThreadState* state_;
};

// Holds the GIL until the end of the scope; this thread may have released it, or never had it.
class GilHold {
 public:
  GilHold() {
    if (is_interpreter_ending() && !holds_gil()) stop_thread_for_ever();
    try {
      state_ = PyGILState_Ensure();
    } catch (...) {
      stop_thread_for_ever();
    }
  }
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;
  ~GilHold() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// Runs `call`, a call of Python's C interface that runs code of Python: other threads get the GIL meanwhile, and this
// one may not get it back. `call` must own nothing: ending a thread destroys what is between Python and here, without
// the GIL.
template <typename Call>
auto run_python(Call call) {
  try {
    return call();
#ifdef _LIBCPP_VERSION  // which has no name for the end of a thread, and no exception object for it either
  } catch (...) {
    if (std::current_exception() != nullptr) throw;
#else
  } catch (abi::__forced_unwind&) {
#endif
    stop_thread_for_ever();
  }
}

// Calls a function of Python. Its arguments become objects before the call, and are kept here: see run_python.
template <typename... Arguments>
nb::object call_python(nb::handle function, const Arguments&... arguments) {
  const nb::tuple given = nb::make_tuple(arguments...);
  PyObject* const result = run_python([&] { return PyObject_Call(function.ptr(), given.ptr(), nullptr); });
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

// The same for code of Python that runs where nobody called it: finalizers, the garbage collector.
inline void stop_threads_that_nanobind_catches() {
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    if (exception == nullptr) stop_thread_for_ever();  // not an exception of C++: pthread_exit
    std::rethrow_exception(exception);
  });
}

}  // namespace recordsmith
