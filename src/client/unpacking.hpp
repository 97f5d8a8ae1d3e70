#pragma once

#include <asio/local/stream_protocol.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/tar_process.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// Keeps an archive that a host sends in a folder of this machine that nobody else can enter, and
/// unpacks it there once it is whole. What has arrived of it stays when the object goes, unless
/// Drop() was called, so that a later one goes on with it; what was begun to be unpacked does not.
class Unpacking final : public ports::Pace {
 public:
  /// Makes the folder, or takes up that of an earlier copy. kFailedPrecondition if another process
  /// has it, or if it belongs to somebody else.
  static base::Result<std::shared_ptr<Unpacking>> Begin(asio::any_io_executor executor,
                                                        base::Path folder);
  ~Unpacking() override;

  ports::Result<std::optional<std::string>> NextInput() override;
  ports::Result<bool> MayRead() override;
  /// How much of the archive is here.
  std::int64_t offset() const { return offset_; }
  /// The hash of that; reads what was not read for it before, and lets others have their turn.
  base::Task<base::Result<std::string>> Hash();
  /// The next piece of the archive. Errors of writing it, after which nothing of it is kept if the
  /// disk is full.
  base::Status Take(std::string_view bytes);
  /// Begins anew.
  base::Status Restart();
  /// Nothing of it is kept.
  void Drop() { dropped_ = true; }
  /// After the last piece: unpacks all, and says what kept tar from it. The archive gives its room
  /// back meanwhile.
  base::Task<base::Status> Finish();
  /// Gives what was unpacked its final names in the folder `into`; with `name`, the one thing gets
  /// this name. `expected` are the names that were asked for. Makes no file with a set-user-ID bit.
  /// What is in the way is found before anything is moved.
  base::Status Place(const base::Path& into, const std::string& name,
                     const std::vector<std::string>& expected);
  /// Whether Place() has begun to move.
  bool moving() const { return moving_; }

 private:
  using Socket = asio::local::stream_protocol::socket;
  Unpacking(base::Path folder, asio::any_io_executor executor)
      : executor_(executor), folder_(std::move(folder)), to_tar_(executor) {}
  base::Path Archive() const { return folder_ / "archive"; }
  /// Below the folder: the host chooses its mode.
  base::Path Inside() const { return folder_ / "unpacked"; }
  base::Result<std::vector<base::Path>> NamesInside(const std::vector<std::string>& expected) const;
  base::Status Open();
  base::Status StartTar();
  base::Task<base::Status> FeedTar();

  asio::any_io_executor executor_;
  base::Path folder_;
  base::UniqueFd archive_ = {};  ///< locked
  std::int64_t offset_ = 0;
  base::Sha256 hash_ = {};  ///< of so much of the archive:
  std::int64_t hashed_ = 0;
  std::unique_ptr<TarProcess> tar_ = {};
  Socket to_tar_;
  bool dropped_ = false;
  bool begun_ = false;  ///< to be unpacked
  bool moving_ = false;
};

/// Removes what copies that nobody took up again left in this folder a day ago.
void DropOldCopies(const base::Path& folder);

}  // namespace jobman::client
