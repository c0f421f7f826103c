// Errors of rlgo as Python's: rlgo.Error, and rlgo.UsageError (an Error and a ValueError) for what no call may ask.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "core/base/error.h"
#include "core/base/usage.h"

namespace rlgo::python {

// The classes; they live as long as the process.
struct ErrorTypes {
  PyObject* error;
  PyObject* usage;
};

inline void translate_errors(ErrorTypes types) {  // exceptions of C++ as Python's
  static ErrorTypes known;                        // of this extension module
  known = types;
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const UsageError& e) {
      PyErr_SetString(known.usage, e.what());
    } catch (const Error& e) {
      PyErr_SetString(known.error, e.what());
    }
  });
}

// For _core, which makes them.
inline void make_errors(nanobind::module_& module) {
  PyObject* error = PyErr_NewException("rlgo._core.Error", PyExc_RuntimeError, nullptr);
  const nanobind::object bases = nanobind::make_tuple(nanobind::handle(error), nanobind::handle(PyExc_ValueError));
  PyObject* usage = PyErr_NewException("rlgo._core.UsageError", bases.ptr(), nullptr);
  module.attr("Error") = nanobind::handle(error);
  module.attr("UsageError") = nanobind::handle(usage);
  translate_errors({error, usage});
}

// For the other modules: one `except rlgo.Error` serves all.
inline void take_errors() {
  const nanobind::object core = nanobind::module_::import_("rlgo._core");
  translate_errors({core.attr("Error").ptr(), core.attr("UsageError").ptr()});
}

}  // namespace rlgo::python
