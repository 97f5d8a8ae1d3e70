#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::client {

/// A folder with what each host wrote, byte for byte: host-0003.out and, if it wrote to stderr,
/// host-0003.err. Keeps no file open, and no output in memory.
class OutFiles {
 public:
  enum class Stream { kOut, kErr };

  /// Creates the folder (0700) if it is missing, and an empty .out (0600) for each of `hosts`.
  /// kAlreadyExists if the folder has such files of any host, unless `replace`: then they are
  /// removed. Other files in it stay.
  static base::Result<OutFiles> Create(base::Path folder, const std::vector<int>& hosts,
                                       bool replace);
  /// An error names the file: the disk is full, somebody has removed the folder.
  base::Status Append(int host, Stream stream, std::string_view bytes);
  base::Path PathOf(int host, Stream stream) const;
  bool HasErr(int host) const { return with_err_.contains(host); }

 private:
  OutFiles(base::Path folder, base::UniqueFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  base::Result<base::UniqueFd> Open(const std::string& name, bool is_new) const;
  base::Status RemoveOld(bool replace) const;

  base::Path folder_;
  base::UniqueFd fd_;
  std::set<int> with_err_ = {};
};

}  // namespace jobman::client
