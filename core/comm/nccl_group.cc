#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/comm/cuda/nccl_plugin.h"
#include "core/comm/device_group.h"

namespace rlgo::comm {

#ifdef RLGO_WITH_CUDA
namespace {

constexpr const char* kPluginFile = "rlgo_core_comm_cuda.so";

// The plug-in stays open until the process ends (CUDA does not survive being unloaded).
const RlgoNcclPlugin& plugin() {
  void* library = dlopen(kPluginFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // Beside the program, where the build puts it.
    library = dlopen((program_path().parent_path() / "plugins" / kPluginFile).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) fail("the NCCL plug-in does not load: {}", dlerror());
  const auto entry = reinterpret_cast<RlgoNcclPluginFunction>(dlsym(library, "rlgo_nccl_plugin"));
  if (entry == nullptr) fail("{} is no NCCL plug-in of rlgo: {}", kPluginFile, dlerror());
  const RlgoNcclPlugin* found = entry();
  if (found->version != kRlgoNcclPluginVersion)
    fail("{} has version {}, this program needs {}: build both anew", kPluginFile, found->version,
         kRlgoNcclPluginVersion);
  return *found;
}

class NcclGroup : public DeviceGroup {
 public:
  NcclGroup(Mailbox& mailbox, const std::vector<int>& ranks, int device, const GroupOptions& options)
      : plugin_(plugin()), size_(static_cast<int>(ranks.size())), device_(device), timeout_s_(options.timeout_s) {
    const auto self = std::find(ranks.begin(), ranks.end(), mailbox.rank());
    if (self == ranks.end()) fail("NCCL group of {} ranks: rank {} is no member", ranks.size(), mailbox.rank());
    std::array<char, kRlgoNcclIdBytes> id{};
    if (self == ranks.begin()) {
      check(plugin_.unique_id(id.data(), error_.data(), error_.size()));
      for (size_t i = 1; i < ranks.size(); ++i) mailbox.send(ranks[i], Tag::nccl_id, std::string(id.data(), id.size()));
      mailbox.flush(options.timeout_s);
    } else {
      receive_id(mailbox, ranks.front(), options.timeout_s, &id);
    }
    const int place = static_cast<int>(self - ranks.begin());
    check(plugin_.init(id.data(), place, size_, device, &group_, error_.data(), error_.size()));
  }
  ~NcclGroup() override {
    if (group_ != nullptr) plugin_.destroy(group_);
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  int size() const override { return size_; }
  bool on_gpu() const override { return true; }
  std::string name() const override { return fmt::format("NCCL, {} ranks, device {}", size_, device_); }
  void begin_sum(void* data, size_t count, Number type) override {
    check(plugin_.begin_sum(group_, data, count, type == Number::f64 ? 1 : 0, error_.data(), error_.size()));
  }
  void wait() override { check(plugin_.wait(group_, timeout_s_, error_.data(), error_.size())); }

 private:
  void check(int status) const {
    if (status == kRlgoNcclNoAnswer) throw NoAnswer(fmt::format("NCCL on device {}: {}", device_, error_.data()));
    if (status != 0) fail("NCCL on device {}: {}", device_, error_.data());
  }
  static void receive_id(Mailbox& mailbox, int from, double timeout_s, std::array<char, kRlgoNcclIdBytes>* id) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox.take(Tag::nccl_id, from)) {
        if (message->payload.size() != id->size())
          fail("NCCL id of {} bytes from rank {}", message->payload.size(), from);
        std::memcpy(id->data(), message->payload.data(), id->size());
        return;
      }
      if (watch.seconds() > timeout_s)
        throw NoAnswer(fmt::format("no NCCL id from rank {} within {} s", from, timeout_s));
      mailbox.wait(5);
    }
  }

  const RlgoNcclPlugin& plugin_;
  int size_;
  int device_;
  double timeout_s_;
  void* group_ = nullptr;
  std::array<char, 512> error_{};
};

}  // namespace

bool built_with_nccl() { return true; }

std::unique_ptr<DeviceGroup> nccl_group(Mailbox& mailbox, std::vector<int> ranks, int device, GroupOptions options) {
  return std::make_unique<NcclGroup>(mailbox, ranks, device, options);
}

std::string device_address(int device) {
  std::array<char, kRlgoDeviceAddressBytes> text{};
  std::array<char, 512> error{};
  if (plugin().address(device, text.data(), error.data(), error.size()) != 0)
    fail("device {}: {}", device, error.data());
  return text.data();
}

#else

bool built_with_nccl() { return false; }

std::unique_ptr<DeviceGroup> nccl_group(Mailbox&, std::vector<int>, int, GroupOptions) {
  fail(
      "NCCL was asked for, but this rlgo was built without CUDA: build it where a CUDA toolkit with NCCL is installed "
      "(RLGO_CUDA=on), or sum gradients on the CPU");
}

std::string device_address(int) { fail("this rlgo was built without CUDA"); }

#endif

}  // namespace rlgo::comm
