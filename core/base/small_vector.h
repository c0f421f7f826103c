// A vector of trivially copyable items with room for N inside the object: node inputs, uses, shapes, matches.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace rlgo {

template <typename T, uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);

 public:
  using value_type = T;
  SmallVector() = default;
  SmallVector(std::initializer_list<T> items) : SmallVector(std::span<const T>(items.begin(), items.size())) {}
  explicit SmallVector(std::span<const T> items) { assign(items); }
  SmallVector(size_t count, const T& value) {
    for (size_t i = 0; i < count; ++i) push_back(value);
  }
  SmallVector(const SmallVector& other) { assign(other); }
  SmallVector(SmallVector&& other) noexcept
      : inline_(), heap_(std::move(other.heap_)), size_(other.size_), capacity_(other.capacity_) {
    if (!heap_) std::copy_n(other.inline_, size_, inline_);
    other.size_ = 0;
    other.capacity_ = N;
  }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    heap_ = std::move(other.heap_);
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (!heap_) std::copy_n(other.inline_, size_, inline_);
    other.size_ = 0;
    other.capacity_ = N;
    return *this;
  }

  void push_back(const T& item) {
    const T copy = item;
    if (size_ == capacity_) grow(capacity_ * 2);
    data()[size_++] = copy;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(size_t count, const T& value = T()) {
    const T copy = value;  // may lie in the memory that growing gives back
    if (count > capacity_) grow(static_cast<uint32_t>(count));
    for (size_t i = size_; i < count; ++i) data()[i] = copy;
    size_ = static_cast<uint32_t>(count);
  }
  void assign(std::span<const T> items) {
    if (items.size() > capacity_) grow(static_cast<uint32_t>(items.size()));
    std::copy(items.begin(), items.end(), data());
    size_ = static_cast<uint32_t>(items.size());
  }
  void insert(T* position, const T& item) {
    const auto at = position - begin();
    push_back(item);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(T* position) {
    std::copy(position + 1, end(), position);
    --size_;
  }

  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void grow(uint32_t capacity) {
    auto bigger = std::make_unique<T[]>(capacity);
    std::copy_n(data(), size_, bigger.get());
    heap_ = std::move(bigger);
    capacity_ = capacity;
  }
  T inline_[N]{};
  std::unique_ptr<T[]> heap_;
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
};

}  // namespace rlgo
