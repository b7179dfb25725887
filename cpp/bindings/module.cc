// recordsmith._core: converts, releases the GIL, calls, and translates failures. The logic is in the rest of cpp/.
#include <nanobind/nanobind.h>

#include "base/buffer_pool.h"
#include "base/checksums/crc32c.h"
#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/gil.h"
#include "bindings/python/value_reader.h"

NB_MODULE(_core, module) {
  using namespace recordsmith;  // NOLINT: this file is nothing but the module
  // Objects that outlive the interpreter's shutdown are ordinary in Python; a report about them is noise to users.
  nb::set_leak_warnings(false);
  prepare_exceptions();
  stop_threads_that_nanobind_catches();
  load_numpy();
  ValueReader::learn_numpy_types();
  bind_decoding(module);
  bind_encoding(module);
  bind_indexing(module);
  bind_padding(module);
  bind_permutation(module);
  bind_images(module);
  bind_reading(module);
  bind_record_access(module);
  bind_remote_files(module);
  bind_rows(module);
  bind_string_tensor(module);
  bind_survey(module);
  bind_recovery(module);
  bind_text_scan(module);
  bind_writing(module);
  module.def(
      "masked_crc32c", [](const nb::bytes& data) { return masked_crc32c(data.data(), data.size()); }, nb::arg("data"));
  module.def("crc32c_backend", &crc32c_backend);
  module.def("pool_retained_bytes", &pool_retained_bytes);
  module.def("trim_pool", &trim_pool);
}
