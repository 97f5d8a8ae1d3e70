#include "ssh/channel_bytes.hpp"

#include <algorithm>
#include <cstdint>

namespace jobman::ssh {

bool IsClosed(const Session& session, ssh_channel channel) {
  return !session.alive() || ssh_channel_is_closed(channel) != 0;
}

Task<std::size_t> ReceiveSome(std::shared_ptr<Session> session, ssh_channel channel,
                              std::span<char> room) {
  const auto most = static_cast<std::uint32_t>(room.size());
  while (!IsClosed(*session, channel)) {
    const auto seen = session->packets();
    const int count = ssh_channel_read_nonblocking(channel, room.data(), most, 0);
    session->After();
    if (count > 0) co_return static_cast<std::size_t>(count);
    if (count < 0 && count != SSH_AGAIN) co_return 0;  // also at the end
    if (session->packets() != seen) {
      co_await base::Yield();  // they may be for this channel
    } else {
      co_await session->Changed();
    }
  }
  co_return 0;
}

Task<bool> SendAll(std::shared_ptr<Session> session, ssh_channel channel,
                   std::span<const char> bytes) {
  while (!bytes.empty()) {
    if (IsClosed(*session, channel)) co_return false;
    const std::size_t room = ssh_channel_window_size(channel);
    const auto some = static_cast<std::uint32_t>(std::min(room, bytes.size()));
    const int count = some == 0 ? 0 : ssh_channel_write(channel, bytes.data(), some);
    session->After();
    if (count < 0 && count != SSH_AGAIN) co_return false;
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else {
      co_await session->Changed();
    }
  }
  co_return true;
}

}  // namespace jobman::ssh
