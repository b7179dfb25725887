// Memory of each thread that must exist before work begins.
//
// In a library that is loaded at run time, as Python modules are, thread_local variables are allocated at their first
// use, and glibc ends the process if there is no memory for them. So ours use the initial-exec model, which takes them
// from the space that glibc reserves for every thread. That space is small (1,664 bytes for all libraries): such
// variables must be few and small.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

#ifdef __GLIBC__
#define RECORDSMITH_THREAD_MEMORY [[gnu::tls_model("initial-exec")]]
#else
#define RECORDSMITH_THREAD_MEMORY
#endif

#ifdef _LIBCPP_VERSION  // has the function of the C++ ABI, and does not declare it
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace recordsmith {

// Allocates what a thread needs to throw its first exception, which may be the one for missing memory.
inline void prepare_exceptions() {
  [[maybe_unused]] void* volatile globals = abi::__cxa_get_globals();  // volatile, so that the compiler keeps the call
}

}  // namespace recordsmith
