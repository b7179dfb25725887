// Remote files: what the core asks for is fetched by recordsmith.storage.ranged.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "base/crc32c.h"
#include "bindings/parts.h"
#include "bindings/python/status.h"
#include "files/remote_file.h"

namespace recordsmith {
namespace {

// An object of Python that may be let go of on any thread.
std::shared_ptr<void> shared_object(nb::object object) {
  return {object.release().ptr(), [](void* held) {
            const GilHold hold;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

// Needs the GIL.
Status raised(nb::python_error& error) {
  Failure failure;
  failure.code = Code::kForeign;
  failure.cause = shared_object(nb::borrow(error.value()));
  return Status(std::move(failure));
}

template <typename Work>
Status in_python(Work work) {
  const GilHold hold;
  try {
    work();
  } catch (nb::python_error& error) {
    return raised(error);
  }
  return Status::ok();
}

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

}  // namespace

void bind_remote_files(nb::module_& module) {
  RemoteFile::set_opener(&open_source);
  module.def(
      "crc32c",
      [](const nb::object& data) {
        Py_buffer view;
        if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
        std::uint32_t sum = 0;
        {
          const GilRelease released;
          sum = crc32c(static_cast<const std::uint8_t*>(view.buf), static_cast<std::size_t>(view.len));
        }
        PyBuffer_Release(&view);
        return sum;
      },
      nb::arg("data"));
}

}  // namespace recordsmith
