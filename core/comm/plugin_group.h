// A DeviceGroup over the functions of a plug-in that begins things and is asked for them (cuda/nccl_plugin.h): every
// wait here ends, by an answer, a timeout, or a member's word that it ends. Tests put a CPU fake behind it.
#pragma once

#include <memory>
#include <vector>

#include "core/comm/cuda/nccl_plugin.h"
#include "core/comm/device_group.h"

namespace rlgo::comm {

// `plugin` must outlive it. The first of `ranks` makes the id and sends it through the mailbox. Returns when all have
// joined; throws NoAnswer where one does not within options.timeout_s, Error where one states that it ends, or the
// plug-in fails.
//
// While it waits it moves the mailbox's messages and looks for a member's Tag::stop. Where the plug-in fails, the
// others are sent Tag::stop before the error leaves (unless a thread of backward found it: the mailbox is not that
// thread's). The destructor abandons a group that failed, or that an error elsewhere ends: what is under way on the
// device is left to the end of the process, and no other rank is waited for. It takes leave of the others (5 s at most)
// where all went well.
std::unique_ptr<DeviceGroup> plugin_group(const RlgoNcclPlugin& plugin, Mailbox& mailbox, std::vector<int> ranks,
                                          int device, GroupOptions options);

}  // namespace rlgo::comm
