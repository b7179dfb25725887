// Columns of the core as numpy arrays, without copying.
#pragma once

#include <nanobind/nanobind.h>

#include "columns/column_batch.h"
#include "examples/example_wire.h"

namespace recordsmith {

namespace nb = nanobind;

// One tuple (values, offsets, present, step_offsets) per column; the arrays then own the batch's memory.
nb::list export_columns(ColumnBatch batch);

// Loads numpy's C interface; once, before anything is exported.
void load_numpy();

// The values of a feature of floats or int64s.
nb::object export_numbers(const WireFeature& feature);
nb::object export_int64s(PooledArray<std::int64_t> array, std::size_t size);
nb::object export_bytes(Buffer memory, std::size_t size, std::size_t begin = 0);
nb::object export_uint64s(PooledArray<std::uint64_t> array, std::size_t size);
nb::object export_offsets(const std::vector<std::uint64_t>& offsets);

}  // namespace recordsmith
