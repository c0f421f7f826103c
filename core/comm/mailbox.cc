#include "core/comm/mailbox.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::comm {

Mailbox::Mailbox(Comm& comm, MailboxOptions options)
    : comm_(comm), options_(options), peers_(static_cast<size_t>(comm.size())) {
  if (options_.packet_bytes < 4096 || options_.packet_bytes > kMaxPacketBytes)
    fail("mailbox: packets of {} bytes; 4096 to {} are possible", options_.packet_bytes, kMaxPacketBytes);
}

void Mailbox::send(int to, Tag tag, std::string payload) {
  auto bytes = std::make_shared<const std::string>(std::move(payload));
  const uint64_t hash = hash_bytes(bytes->data(), bytes->size());
  enqueue(to, {tag, std::move(bytes), hash, false});
  pump(to, peers_[static_cast<size_t>(to)]);
}

void Mailbox::publish(std::span<const int> ranks, Tag tag, const Bytes& payload) {
  const uint64_t hash = hash_bytes(payload->data(), payload->size());
  for (int to : ranks) enqueue(to, {tag, payload, hash, true});
  pump();
}

void Mailbox::enqueue(int to, Outgoing message) {
  if (to < 0 || to >= size())
    fail("message '{}' to rank {}, but there are ranks 0..{}", name(message.tag), to, size() - 1);
  if (message.payload->size() > options_.max_message_bytes)
    fail("message '{}' of {} bytes, at most {} are allowed", name(message.tag), message.payload->size(),
         options_.max_message_bytes);
  Peer& peer = peers_[static_cast<size_t>(to)];
  if (peer.forgotten) return;
  if (message.newest_only) {
    // The first one may have left in part already: it stays.
    const size_t first = peer.started ? 1 : 0;
    for (size_t i = first; i < peer.outgoing.size(); ++i) {
      if (!peer.outgoing[i].newest_only || peer.outgoing[i].tag != message.tag) continue;
      peer.outgoing[i] = std::move(message);
      ++counters_.superseded;
      return;
    }
  }
  peer.outgoing.push_back(std::move(message));
  activate(to, peer);
}

void Mailbox::activate(int to, Peer& peer) {
  if (!std::exchange(peer.active, true)) active_.push_back(to);
}

// Before what waits, which may wait for this. poll() sends it.
void Mailbox::report_fetched(int to, Peer& peer) {
  if (peer.forgotten || peer.next_in - peer.reported_in < options_.window_messages / 4) return;
  peer.reported_in = peer.next_in;
  auto count = std::make_shared<const std::string>(reinterpret_cast<const char*>(&peer.next_in), sizeof(peer.next_in));
  const uint64_t hash = hash_bytes(count->data(), count->size());
  peer.outgoing.insert(peer.outgoing.begin() + (peer.started ? 1 : 0), {Tag::fetched, std::move(count), hash, false});
  activate(to, peer);
}

void Mailbox::pump() {
  std::erase_if(active_, [this](int to) {
    Peer& peer = peers_[static_cast<size_t>(to)];
    pump(to, peer);
    peer.active = !peer.outgoing.empty();
    return !peer.active;
  });
}

void Mailbox::pump(int to, Peer& peer) {
  while (!peer.forgotten && !peer.outgoing.empty() && comm_.pending_bytes(to) < options_.window_bytes) {
    const Outgoing& message = peer.outgoing.front();
    if (!peer.started) {
      if (message.tag != Tag::fetched && peer.next_out >= peer.fetched + options_.window_messages) return;
      start(to, peer);
    }
    const size_t left = message.payload->size() - peer.sent_bytes;
    if (left > 0 && comm_.pending_bytes(to) < options_.window_bytes) {
      const size_t size = std::min(left, options_.packet_bytes);
      comm_.send(to, message.payload, peer.sent_bytes, size);
      peer.sent_bytes += size;
    }
    if (peer.sent_bytes < message.payload->size()) continue;
    peer.outgoing.pop_front();
    peer.started = false;
  }
}

// Sends the packet with the header: the whole message where it fits.
void Mailbox::start(int to, Peer& peer) {
  const Outgoing& message = peer.outgoing.front();
  FrameHeader header;
  header.tag = static_cast<uint8_t>(message.tag);
  header.source = rank();
  header.destination = to;
  header.sequence = peer.next_out++;
  header.length = message.payload->size();
  header.payload_hash = message.hash;
  header.header_hash = hash_header(header);
  // A long payload follows in packets of its own, which need no copy.
  const size_t room = options_.packet_bytes - sizeof(FrameHeader);
  const size_t with = message.payload->size() <= std::min(room, size_t{1} << 16) ? message.payload->size() : 0;
  std::string packet(reinterpret_cast<const char*>(&header), sizeof(FrameHeader));
  packet.append(*message.payload, 0, with);
  const size_t size = packet.size();
  comm_.send(to, std::make_shared<const std::string>(std::move(packet)), 0, size);
  peer.started = true;
  peer.sent_bytes = with;
  if (message.tag == Tag::fetched) return;
  for (Traffic* traffic : {&counters_.out, &counters_.out_by_tag[header.tag % 32]}) {
    traffic->messages += 1;
    traffic->bytes += sizeof(FrameHeader) + header.length;
  }
}

void Mailbox::accept(Packet packet) {
  Peer& peer = peers_[static_cast<size_t>(packet.source)];
  if (peer.assembling) {
    if (packet.bytes.size() <= peer.assembling->length - peer.payload.size() && !packet.bytes.empty()) {
      peer.payload += packet.bytes;
      if (peer.payload.size() == peer.assembling->length) finish_message(peer);
      return;
    }
    // A packet is missing: give this message up. Perhaps the next one starts here.
    peer.assembling.reset();
    peer.payload.clear();
    ++counters_.corrupt;
  }
  begin_message(peer, std::move(packet));
}

void Mailbox::begin_message(Peer& peer, Packet packet) {
  FrameHeader header;
  const FrameFault fault = read_header(packet.bytes, &header);
  if (fault == FrameFault::other_version)
    fail("rank {} speaks version {} of the message format, this rank version {}: start all ranks from one build",
         packet.source, header.version, kFrameVersion);
  const bool sound = fault == FrameFault::none && header.source == packet.source && header.destination == rank() &&
                     !name(static_cast<Tag>(header.tag)).empty() && header.length <= options_.max_message_bytes &&
                     header.sequence >= peer.next_in && packet.bytes.size() - sizeof(FrameHeader) <= header.length;
  if (!sound) {
    ++counters_.corrupt;
    return;
  }
  counters_.missing += header.sequence - peer.next_in;
  peer.next_in = header.sequence + 1;
  peer.assembling = header;
  peer.payload = packet.bytes.substr(sizeof(FrameHeader));
  if (peer.payload.size() == header.length) {
    finish_message(peer);
  } else {
    peer.payload.reserve(header.length);
  }
}

void Mailbox::finish_message(Peer& peer) {
  const FrameHeader header = *peer.assembling;
  peer.assembling.reset();
  if (hash_bytes(peer.payload.data(), peer.payload.size()) != header.payload_hash) {
    peer.payload.clear();
    ++counters_.corrupt;
    return;
  }
  std::string payload = std::exchange(peer.payload, {});
  if (static_cast<Tag>(header.tag) != Tag::fetched) {
    for (Traffic* traffic : {&counters_.in, &counters_.in_by_tag[header.tag % 32]}) {
      traffic->messages += 1;
      traffic->bytes += sizeof(FrameHeader) + header.length;
    }
    inbox_.push_back({header.source, static_cast<Tag>(header.tag), header.sequence, std::move(payload)});
  } else {
    uint64_t count = 0;
    std::memcpy(&count, payload.data(), std::min(payload.size(), sizeof(count)));
    peer.fetched = std::max(peer.fetched, count);
    if (!peer.outgoing.empty()) sleep_us_ = 0;  // what waited may leave
  }
  report_fetched(header.source, peer);
}

bool Mailbox::poll() {
  const size_t before = inbox_.size();
  while (auto packet = comm_.try_receive()) accept(std::move(*packet));
  pump();
  note_progress();
  if (inbox_.size() == before) return false;
  sleep_us_ = 0;
  since_progress_.restart();
  return true;
}

// What moves inside a packet cannot be seen, but its start and its end.
void Mailbox::note_progress() {
  const size_t pending = comm_.pending_bytes();
  const bool receiving = comm_.receiving();
  if (pending != last_pending_ || receiving != last_receiving_) since_progress_.restart();
  last_pending_ = pending;
  last_receiving_ = receiving;
}

std::optional<Incoming> Mailbox::take_if(const std::function<bool(const Incoming&)>& wanted) {
  poll();
  const auto found = std::find_if(inbox_.begin(), inbox_.end(), wanted);
  if (found == inbox_.end()) return std::nullopt;
  Incoming message = std::move(*found);
  inbox_.erase(found);
  return message;
}

std::optional<Incoming> Mailbox::take() {
  return take_if([](const Incoming&) { return true; });
}

std::optional<Incoming> Mailbox::take(Tag tag) {
  return take_if([tag](const Incoming& message) { return message.tag == tag; });
}

std::optional<Incoming> Mailbox::take(Tag tag, int source) {
  return take_if([=](const Incoming& message) { return message.tag == tag && message.source == source; });
}

std::optional<Incoming> Mailbox::take_unless(std::span<const Tag> kept) {
  return take_if(
      [=](const Incoming& message) { return std::find(kept.begin(), kept.end(), message.tag) == kept.end(); });
}

bool Mailbox::wait(double max_ms) {
  const Stopwatch watch;
  for (;;) {
    if (poll()) return true;
    const double left_us = max_ms * 1e3 - watch.us();
    if (left_us <= 0) return false;
    // The back-off outlives the call: a loop of short waits sleeps as long as one long wait.
    const double still_us = since_progress_.us();
    const bool busy = under_way();
    if (busy ? still_us < options_.spin_under_way_us : watch.us() < options_.spin_us && sleep_us_ == 0) {
      std::this_thread::yield();
      continue;
    }
    // What has not moved for long, because the other side is held or computes, is looked at less often still.
    const double longest_under_way_us =
        std::max(options_.longest_sleep_under_way_us, std::min(still_us / 64, options_.longest_sleep_us));
    sleep_us_ = busy ? std::clamp(still_us / 16, options_.first_sleep_us, longest_under_way_us)
                     : std::clamp(sleep_us_ * 2, options_.first_sleep_us, options_.longest_sleep_us);
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(std::min(sleep_us_, left_us)));
  }
}

// Whether a packet is on its way from or to a rank that is thought alive.
bool Mailbox::under_way() const {
  if (comm_.receiving()) return true;
  size_t dead = 0;
  for (int to : forgotten_) dead += comm_.pending_bytes(to);
  return comm_.pending_bytes() > dead;
}

bool Mailbox::flush(double max_s) {
  std::vector<int> all(peers_.size());
  std::iota(all.begin(), all.end(), 0);
  return flush(max_s, all);
}

bool Mailbox::flush(double max_s, std::span<const int> ranks) {
  const Stopwatch watch;
  for (;;) {
    poll();
    const bool left = std::ranges::all_of(ranks, [this](int to) {
      return peers_.at(static_cast<size_t>(to)).forgotten || (waiting_bytes(to) == 0 && comm_.pending_bytes(to) == 0);
    });
    if (left) return true;
    if (watch.seconds() > max_s) return false;
    wait(1);
  }
}

void Mailbox::forget(int peer) {
  Peer& entry = peers_.at(static_cast<size_t>(peer));
  if (!std::exchange(entry.forgotten, true)) forgotten_.push_back(peer);
  comm_.forget(peer);
  // A message that has left in part must end before another one begins, should the rank come back.
  if (entry.started) {
    entry.outgoing.resize(1);
  } else {
    entry.outgoing.clear();
  }
}

void Mailbox::remember(int peer) {
  Peer& entry = peers_.at(static_cast<size_t>(peer));
  if (!std::exchange(entry.forgotten, false)) return;
  std::erase(forgotten_, peer);
  comm_.remember(peer);
  entry.reported_in = 0;  // what was reported may have been dropped, and it waits for that
  report_fetched(peer, entry);
}

size_t Mailbox::waiting_bytes() const {
  size_t bytes = 0;
  for (int to : active_) bytes += waiting_bytes(to);
  return bytes;
}

size_t Mailbox::waiting_bytes(int to) const {
  const Peer& peer = peers_.at(static_cast<size_t>(to));
  size_t bytes = 0;
  if (peer.forgotten) return bytes;
  for (const Outgoing& message : peer.outgoing) bytes += message.payload->size() + sizeof(FrameHeader);
  return bytes;
}

}  // namespace rlgo::comm
