#pragma once

#include <asio/local/stream_protocol.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/tar_process.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// Unpacks an archive that a host sends into a folder of this machine that nobody else can enter,
/// and that is removed with the object. It is the host's pace: no more is read than tar takes.
class Unpacking final : public ports::Pace {
 public:
  /// Makes the folder, in `parent`. tar starts with the host's command.
  static base::Result<std::shared_ptr<Unpacking>> Begin(asio::any_io_executor executor,
                                                        const base::Path& parent);
  ~Unpacking() override;

  ports::Result<std::optional<std::string>> NextInput() override;
  ports::Result<bool> MayRead() override;
  /// The next piece of the archive.
  void Take(std::string_view bytes);
  /// There are no more pieces.
  void End();
  /// Whether tar ended before it had everything.
  bool broken() const { return broken_; }
  /// After the last piece: waits until all is unpacked, and says what kept tar from it.
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
  /// Below the folder: the host chooses its mode.
  base::Path Inside() const { return folder_ / "in"; }
  base::Result<std::vector<base::Path>> NamesInside(const std::vector<std::string>& expected) const;
  base::Status StartTar();
  base::Task<void> Write();

  asio::any_io_executor executor_;
  base::Path folder_;
  std::unique_ptr<TarProcess> tar_ = {};
  Socket to_tar_;
  std::string queue_ = {};
  bool all_taken_ = false;
  bool written_ = false;
  bool broken_ = false;  ///< tar reads no more
  bool moving_ = false;
  base::Waiters changed_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::client
