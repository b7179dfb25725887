#include "base/thread_team.h"

#include <cerrno>

namespace recordsmith {

Status out_of_memory(const char* action) {
  Failure failure;
  failure.code = Code::kSystem;
  failure.system_error = ENOMEM;
  failure.detail = action;
  return Status(std::move(failure));
}

}  // namespace recordsmith
