#pragma once

#include <asio/posix/stream_descriptor.hpp>

#include "jobman/base/task.hpp"

namespace jobman::base {

/// Waits until `descriptor` is ready, as poll(2) confirms. Asio alone may say so too early: an
/// event of a descriptor that was closed while the event waited to be handled is taken for one of
/// the next descriptor that is opened (asio::detail::epoll_reactor keeps the state of closed ones
/// for reuse). Needed where nothing else shows that the wait was in vain, as EAGAIN does. The
/// descriptor must outlive the task. `wait_error` also ends when the other side has hung up.
Task<void> AwaitReady(asio::posix::stream_descriptor* descriptor,
                      asio::posix::stream_descriptor::wait_type what);

}  // namespace jobman::base
