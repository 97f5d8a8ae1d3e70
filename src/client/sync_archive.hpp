#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/sync_difference.hpp"
#include "client/sync_tree.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// What an archive tells a host to do beside taking its files: see src/remote/sync.sh.
struct SyncOrders {
  std::vector<std::string> remove = {};
  std::vector<std::string> remove_folders = {};
  std::map<unsigned, std::vector<std::string>> modes = {};
  std::map<std::int64_t, std::vector<std::string>> times = {};
  std::vector<std::string> drop = {};
  std::vector<std::string> add = {};
  std::string from = "-";
  std::string to = "-";
};

/// An archive, in the format of GNU tar, of some files of a tree, read from them as it is sent.
/// Hosts read it each at its own pace: where a piece begins is known beforehand, and those that
/// keep step share it. Pieces are 64 KiB; the last few are in memory.
///
/// A file that is not any more what it was when its hash was taken is sent as zeros, perhaps in
/// part, and the orders then say that it is to be skipped. Not safe for several threads.
class SyncArchive {
 public:
  static constexpr std::size_t kPiece = std::size_t{64} << 10;

  /// `tree` must outlive it.
  SyncArchive(const SyncTree* tree, const std::vector<std::string>& names, SyncOrders orders);

  /// Bytes of the members before the orders.
  std::int64_t size() const { return size_; }
  std::size_t pieces() const;
  std::shared_ptr<const std::string> Piece(std::size_t number);
  /// The orders and the end, once all pieces were made. `complete`: the record of the host is known
  /// to be what the orders begin with.
  std::string Ending(bool complete) const;
  /// Names of files that changed while they were read.
  const std::set<std::string>& changed() const { return changed_; }

 private:
  struct Member {
    const SyncEntries::value_type* entry = nullptr;
    std::int64_t begin = 0;    ///< of its header
    std::int64_t content = 0;  ///< where its content begins
  };
  std::string MakePiece(std::int64_t begin, std::int64_t end);
  void AddContent(const Member& member, std::int64_t from, std::int64_t count, std::string& piece);

  const SyncTree* tree_;
  SyncOrders orders_;
  std::vector<Member> members_ = {};
  std::int64_t size_ = 0;
  std::deque<std::pair<std::size_t, std::shared_ptr<const std::string>>> recent_ = {};
  std::set<std::string> changed_ = {};
};

/// Gives an archive to the command of one host. `on_sent` is told of the bytes of each piece.
std::shared_ptr<ports::Pace> ReadArchive(std::shared_ptr<SyncArchive> archive, bool complete,
                                         std::function<void(std::int64_t)> on_sent);

}  // namespace jobman::client
