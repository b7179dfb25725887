// Memory of each thread that must be there before work begins.
//
// In a library that is loaded later, as Python modules are, thread_local variables are allocated at their first use,
// and glibc ends the process where there is no memory for them. So ours are of the initial-exec model, which takes them
// from what glibc reserves for every thread. That is little (1,664 bytes for all libraries): they must be few and
// small.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

#ifdef __GLIBC__
#define RECORDSMITH_THREAD_MEMORY [[gnu::tls_model("initial-exec")]]
#else
#define RECORDSMITH_THREAD_MEMORY
#endif

namespace recordsmith {

// What a thread needs to throw its first exception, which may be that there is no more memory.
inline void prepare_exceptions() {
  [[maybe_unused]] void* volatile globals = abi::__cxa_get_globals();  // volatile: or else the call would be left out
}

}  // namespace recordsmith
