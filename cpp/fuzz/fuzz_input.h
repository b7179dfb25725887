// What the fuzzers have in common: bytes in memory as a stream and as a file, and a check that stops them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "files/byte_source.h"
#include "tests/memory_stream.h"

// Not assert: it has to hold in every kind of build.
#define REQUIRE(condition)                                                           \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

namespace recordsmith::fuzz {

using testing::Content;
using testing::MemoryStream;

// Bytes as an open file, which lives in memory only.
inline std::shared_ptr<File> as_file(const Content& content) {
  static const int descriptor = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  REQUIRE(ftruncate(descriptor, 0) == 0);
  REQUIRE(pwrite(descriptor, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  std::shared_ptr<File> file;
  REQUIRE(File::open(path, &file).is_ok());
  return file;
}

}  // namespace recordsmith::fuzz
