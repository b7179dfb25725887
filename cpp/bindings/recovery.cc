// What can be saved of damaged files.
#include "recovery/recovery.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/parts.h"
#include "bindings/python/array_export.h"
#include "bindings/python/status.h"
#include "recovery/inflate_recovery.h"

namespace recordsmith {
namespace {

class Recovery {
 public:
  explicit Recovery(const nb::str& path) { raise_if_failed(RecordRecovery::open(path_of(path), &recovery_)); }

  // True at the end of the file.
  bool advance(std::uint64_t bytes) {
    bool done = false;
    run([&] { return recovery_->advance(bytes, &done); });
    return done;
  }

  const std::vector<Piece>& pieces() const { return recovery_->pieces(); }

  nb::object read_frames(std::uint64_t begin, std::uint64_t end, std::size_t target_bytes) const {
    Buffer frames;
    std::size_t size = 0;
    run([&] { return recovery_->read_frames(begin, end, target_bytes, &frames, &size); });
    return export_bytes(std::move(frames), size);
  }

  nb::object frame(std::uint64_t data_begin, std::uint64_t data_size) const {
    Buffer framed;
    run([&] { return recovery_->frame(data_begin, data_size, &framed); });
    return export_bytes(std::move(framed), static_cast<std::size_t>(data_size) + kFramingBytes);
  }

  std::uint64_t offset() const { return recovery_->offset(); }
  std::uint64_t size() const { return recovery_->size(); }

 private:
  std::unique_ptr<RecordRecovery> recovery_;
};

class Inflation {
 public:
  Inflation(const nb::str& path, const std::string& compression, const nb::str& scratch) {
    raise_if_failed(InflateRecovery::open(path_of(path), compression_of(compression).value_or(Compression::kGzip),
                                          path_of(scratch), &recovery_));
  }

  bool advance(std::uint64_t bytes) {
    bool done = false;
    run([&] { return recovery_->advance(bytes, &done); });
    return done;
  }

  const std::vector<InflateGap>& gaps() const { return recovery_->gaps(); }
  std::uint64_t offset() const { return recovery_->offset(); }
  std::uint64_t inflated() const { return recovery_->inflated(); }

 private:
  std::unique_ptr<InflateRecovery> recovery_;
};

}  // namespace

void bind_recovery(nb::module_& module) {
  nb::class_<Piece>(module, "RecoveredPiece")
      .def_prop_ro("kind", [](const Piece& self) { return piece_kind_name(self.kind); })
      .def_ro("begin", &Piece::begin)
      .def_ro("end", &Piece::end)
      .def_ro("records", &Piece::records)
      .def_ro("data_begin", &Piece::data_begin)
      .def_ro("data_size", &Piece::data_size)
      .def_ro("header_is_sound", &Piece::header_is_sound)
      .def_ro("longest_zeros", &Piece::longest_zeros)
      .def_prop_ro("is_kept", &Piece::is_kept);
  nb::class_<InflateGap>(module, "InflateGap")
      .def_prop_ro("reason", [](const InflateGap& self) { return gap_reason_name(self.reason); })
      .def_ro("begin", &InflateGap::begin)
      .def_ro("end", &InflateGap::end)
      .def_ro("inflated_at", &InflateGap::inflated_at);
  nb::class_<Recovery>(module, "RecordRecovery")
      .def(nb::init<const nb::str&>(), nb::arg("path"))
      .def("advance", &Recovery::advance, nb::arg("size"))
      .def("pieces", &Recovery::pieces, nb::rv_policy::copy)
      .def("read_frames", &Recovery::read_frames, nb::arg("begin"), nb::arg("end"), nb::arg("target_bytes"))
      .def("frame", &Recovery::frame, nb::arg("data_begin"), nb::arg("data_size"))
      .def_prop_ro("offset", &Recovery::offset)
      .def_prop_ro("size", &Recovery::size);

  nb::class_<Inflation>(module, "InflateRecovery")
      .def(nb::init<const nb::str&, const std::string&, const nb::str&>(), nb::arg("path"), nb::arg("compression"),
           nb::arg("scratch"))
      .def("advance", &Inflation::advance, nb::arg("size"))
      .def("gaps", &Inflation::gaps, nb::rv_policy::copy)
      .def_prop_ro("offset", &Inflation::offset)
      .def_prop_ro("inflated", &Inflation::inflated);
}

}  // namespace recordsmith
