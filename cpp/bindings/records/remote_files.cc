// Remote files: what the core asks for is fetched by recordsmith.storage.ranged. Sums of any bytes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "base/checksums/byte_digest.h"
#include "base/checksums/crc32c.h"
#include "bindings/parts.h"
#include "bindings/python/callbacks.h"
#include "bindings/python/status.h"
#include "files/remote_file.h"

namespace recordsmith {
namespace {

// Buffers of Python, let go of together.
class Buffers {
 public:
  explicit Buffers(std::size_t count) { views_.reserve(count); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    const GilHold hold;
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }

  std::span<const std::uint8_t> add(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    views_.push_back(view);
    return {static_cast<const std::uint8_t*>(view.buf), static_cast<std::size_t>(view.len)};
  }

 private:
  std::vector<Py_buffer> views_;
};

// A RemoteObject of recordsmith.storage.ranged.
class PythonSource final : public RemoteSource {
 public:
  explicit PythonSource(nb::object object) : object_(std::move(object)) {
    facts_.inode = nb::cast<std::uint64_t>(object_.attr("version"));
    facts_.size = nb::cast<std::uint64_t>(object_.attr("size"));
  }
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;
  ~PythonSource() override {
    const GilHold hold;
    object_.reset();
  }

  FileFacts facts() const override { return facts_; }

  Status fetch(std::span<const ByteRange> ranges, Segments* segments) override {
    return in_python([&] {
      const auto found = nb::cast<nb::list>(call_python(object_.attr("fetch"), list_of(ranges)));
      const auto buffers = std::make_shared<Buffers>(found.size());
      for (const nb::handle piece : found) {
        const auto [begin, bytes] = nb::cast<std::pair<std::uint64_t, nb::object>>(piece);
        segments->add({begin, buffers->add(bytes), buffers});
      }
    });
  }

  void announce(std::span<const ByteRange> ranges) override {
    // Fetching reports what is wrong.
    static_cast<void>(in_python([&] { call_python(object_.attr("announce"), list_of(ranges)); }));
  }

 private:
  static nb::list list_of(std::span<const ByteRange> ranges) {
    nb::list list;
    for (const ByteRange& range : ranges) list.append(nb::make_tuple(range.begin, range.end));
    return list;
  }

  nb::object object_;
  FileFacts facts_;
};

Status open_source(const std::string& url, std::unique_ptr<RemoteSource>* source) {
  return in_python([&] {
    const auto opening =
        nb::steal(run_python([] { return PyImport_ImportModule("recordsmith.storage.ranged.opening"); }));
    if (!opening.is_valid()) throw nb::python_error();
    nb::object object = call_python(opening.attr("open_object"), text_of(url));
    *source = std::make_unique<PythonSource>(std::move(object));
  });
}

// What `work` finds in the memory of an object, without the GIL.
template <typename Work>
auto of_buffer(const nb::object& object, Work work) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const auto result = [&] {
    const GilRelease released;
    return work(view.buf, static_cast<std::size_t>(view.len));
  }();
  PyBuffer_Release(&view);
  return result;
}

}  // namespace

void bind_remote_files(nb::module_& module) {
  RemoteFile::set_opener(&open_source);
  module.def(
      "crc32c",
      [](const nb::object& data) {
        return of_buffer(data, [](const void* bytes, std::size_t size) {
          return crc32c(static_cast<const std::uint8_t*>(bytes), size);
        });
      },
      nb::arg("data"));
  module.def(
      "digest_bytes",
      [](const nb::object& data) {
        const auto digest = of_buffer(data, digest_bytes);
        return nb::bytes(digest.data(), digest.size());
      },
      nb::arg("data"));
}

}  // namespace recordsmith
