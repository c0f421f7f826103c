// What the two halves of h5.h share. Only for h5_*.cc.
#pragma once

#include <cstdint>
#include <string>

#include "replay/h5.h"

namespace rlgo::replay::h5 {

// An open HDF5 object (`hid_t` is a 64-bit integer), closed at the end.
class Handle {
 public:
  using Close = int (*)(int64_t);
  Handle() = default;
  // A negative id (the library's answer to a failed call) makes an empty handle.
  Handle(int64_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept;
  explicit operator bool() const { return id_ >= 0; }
  int64_t id() const { return id_; }
  void reset();
  // Gives the object up to the caller, who closes it.
  int64_t release() {
    const int64_t id = id_;
    id_ = -1;
    return id;
  }

 private:
  int64_t id_ = -1;
  Close close_ = nullptr;
};

// Stops the library from printing its errors to stderr (in this thread); they are reported through describe_failure().
void silence();
// The innermost reason on the library's error stack, as text; empties the stack.
std::string describe_failure();
// Throws Error "<file>: dataset 'name': <what>: <library's reason>".
[[noreturn]] void fail_h5(const std::string& file, const std::string& name, const std::string& what);

int64_t native_type(Type type);    // in memory
int64_t stored_type(Type type);    // on disk: little-endian
int64_t string_type(size_t size);  // a new type: fixed-length UTF-8; the caller closes it

Handle type_handle(int64_t id);  // closes `id` at its end; throws Error where id < 0
Handle space_handle(int64_t id);
Handle property_handle(int64_t id);
Handle dataset_handle(int64_t id);
Handle attribute_handle(int64_t id);
Handle file_handle(int64_t id);

}  // namespace rlgo::replay::h5
