#pragma once

#include <map>
#include <string>
#include <string_view>

#include "jobman/client/copy.hpp"

namespace jobman::client {

/// A path for a host's shell: relative to the home folder, and no option of any command.
std::string HostPath(const std::string& path);
/// The last name of a path: "b" of "/a/b/".
std::string NameOf(const std::string& path);
/// The error that tar, mv or the host script means by what it wrote to stderr.
base::Error CopyError(std::string_view said, int exit_code);
/// What the name of the folder where a copy is kept until it is whole begins with; a hyphen and the
/// number of the host follow. The same for the same sources and target of this machine's jobman, so
/// that a second call finds it.
std::string CopyFolder(const Context& context, const CopyPlan& plan);
/// About how long the archive of these files and folders of this machine will be; 0 if they are too
/// many to count.
std::int64_t ArchiveSize(const std::vector<std::string>& sources);
/// Whether a copy may do better when it is tried again: the host or its connection was not there.
bool MayPass(const base::Error& error);
/// For an error after which a copy may go on from what arrived: says so.
base::Error KeptCopy(base::Error error, const std::string& folder);
/// For an error after the first of several files may have been moved to its place.
base::Error PartlyCopied(base::Error error);
/// "./train.log: file changed as we read it", without "tar: "; empty if there is no line.
std::string FirstLine(std::string_view said);

/// What the host script says to jobman itself on stderr, beside what is for people.
class PackNews {
 public:
  explicit PackNews(ports::ByteSink people) : people_(std::move(people)) {}
  base::Status Hear(std::string_view bytes);
  /// About how long the archive will be; 0: not known.
  std::int64_t size() const { return size_; }

 private:
  base::Status HearPart(std::string_view part);
  void Read(std::string_view line);

  ports::ByteSink people_;
  std::string line_ = {};  ///< begins as one of ours does
  bool theirs_ = false;    ///< the line that goes on is for people
  std::int64_t size_ = 0;
};

/// Appends to `text`, of which the first and the last 4 KiB are kept.
void KeepEnds(std::string& text, std::string_view more);

/// The beginning and the end of what each host writes to stderr.
class HostTalk {
 public:
  /// For the host's next command; what the one before it wrote is dropped.
  ports::ByteSink SinkOf(int host);
  const std::string& Of(int host) { return said_[host]; }

 private:
  std::map<int, std::string> said_ = {};
};

}  // namespace jobman::client
