#include "jobman/store/site.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "store/file_system.hpp"

namespace jobman::store {
namespace {

constexpr std::size_t kHashLength = 16;
constexpr std::size_t kMostCards = 32;

/// A line of a system file; empty if it cannot be read.
std::string Line(const base::Path& file) {
  const auto text = base::ReadFile(file);
  return text.ok() ? std::string(base::Trim(*text)) : std::string{};
}

/// machine-id(5): the id must not be shown to others, so only a hash of it is kept. Images may be
/// shipped without one, or with the word "uninitialized".
std::string MachineOf(const base::Path& root) {
  const std::string id = Line(root / "etc/machine-id");
  if (id.empty() || id == "uninitialized") return {};
  return base::Sha256Hex("jobman store " + id).substr(0, kHashLength);
}

/// Cards of real or virtual hardware with the address they came with (addr_assign_type 0, see
/// sysfs-class-net in the kernel's documentation): not bridges, not randomized addresses.
std::vector<std::string> CardsOf(const base::Path& root) {
  std::vector<std::string> cards;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(root / "sys/class/net", failed), end;
       !failed && entry != end; entry.increment(failed)) {
    const base::Path card = entry->path();
    std::error_code ignored;
    if (!std::filesystem::exists(card / "device", ignored)) continue;
    if (Line(card / "addr_assign_type") != "0") continue;
    const std::string address = Line(card / "address");
    const bool none = address.find_first_not_of("0:") == std::string::npos;
    if (!none && cards.size() < kMostCards) cards.push_back(address);
  }
  std::sort(cards.begin(), cards.end());
  return cards;
}

std::string HostName() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string{};
}

bool IsOnOverlay(const base::Path& dir) {
  struct statfs system = {};
  return statfs(dir.c_str(), &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

/// On an overlay, files of one image have the same number in all its containers, which have no
/// hardware and perhaps one machine id. Their names tell them apart.
std::uint64_t NumberInContainer(std::uint64_t inode, const std::string& host) {
  const std::string hash = base::Sha256Hex(std::to_string(inode) + " " + host);
  return std::strtoull(hash.substr(0, 15).c_str(), nullptr, 16);
}

}  // namespace

core::Site LookAtSite(const base::Path& dir) {
  return LookAtSite(dir, "/");
}

core::Site LookAtSite(const base::Path& dir, const base::Path& root) {
  std::error_code failed;
  const base::Path real = std::filesystem::canonical(dir, failed);
  struct stat info = {};
  const bool there = stat((dir / "jobman.db").c_str(), &info) == 0;
  core::Site site{.machine = MachineOf(root),
                  .cards = CardsOf(root),
                  .host = HostName(),
                  .path = failed ? std::string{} : real.string(),
                  .file = there ? info.st_ino : 0,
                  .shared = IsOnSharedFileSystem(dir) && !LocksStayHere(MountOf(dir))};
  if (there && site.cards.empty() && IsOnOverlay(dir))
    site.file = NumberInContainer(site.file, site.host);
  return site;
}

}  // namespace jobman::store
