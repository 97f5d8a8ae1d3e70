#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/waiters.hpp"

namespace jobman::controller {

/// Files below this length are sent to each host from here: that is done sooner.
inline constexpr std::int64_t kLeastRelayed = std::int64_t{1} << 20;
/// Longer ones are, too: a host that gives a file has it twice meanwhile.
inline constexpr std::int64_t kMostRelayed = std::int64_t{512} << 20;
inline bool IsRelayed(std::int64_t bytes) {
  return bytes >= kLeastRelayed && bytes <= kMostRelayed;
}

/// Which host gets a file from this machine, and which from another host that has it already: the
/// uplink carries it once. Hosts that have it give it to a few others at a time, so that many have
/// it soon, and sshd refuses none. On the loop's thread only.
class FileRelay : public std::enable_shared_from_this<FileRelay> {
 public:
  explicit FileRelay(base::Duration patience = std::chrono::minutes{1}) : patience_(patience) {}

  /// A host that has the file.
  struct Source {
    int host = 0;
    std::string id = {};      ///< the file's name there
    std::string sha256 = {};  ///< of the file
    std::int64_t bytes = 0;   ///< its length
  };

  /// How a host comes to the file. If it ends without Kept() or Refused(), the host did not get it
  /// or did not keep it.
  class Turn {
   public:
    Turn() = default;
    Turn(std::shared_ptr<FileRelay> relay, std::optional<Source> from)
        : relay_(std::move(relay)), from_(std::move(from)) {}
    Turn(Turn&&) = default;
    Turn& operator=(Turn&& other) noexcept {
      std::swap(relay_, other.relay_);
      std::swap(from_, other.from_);
      return *this;
    }
    ~Turn() { End(Outcome::kNothing); }
    /// Whether it is sent the file from here, and is to keep it for others.
    bool keeps() const { return relay_ && !from_; }
    /// Where it is to be fetched; nothing: it is sent from here.
    const std::optional<Source>& from() const { return from_; }
    /// The host has the file and gives it to others.
    void Kept(Source kept);
    /// The other host did not give it. The host is then sent the file from here.
    void Refused();

   private:
    enum class Outcome { kKept, kNothing, kRefused };
    friend class FileRelay;
    void End(Outcome outcome);

    std::shared_ptr<FileRelay> relay_ = {};  ///< null: nobody waits for this turn's end
    std::optional<Source> from_ = {};
  };

  /// Waits until a host has the file and is free to give it, or until the caller's host is to be
  /// sent it from here. When two hosts in a row did not give the file, or did not keep it, the
  /// relay ends: each host is then sent it from here. If those that have it are slow, one more host
  /// is sent it each `patience`, so every wait ends.
  base::Task<Turn> Next();
  /// A host has the file without a turn.
  void Has(Source source);
  /// A host has it no more.
  void Gone(int host);

 private:
  struct Giving {
    Source source = {};
    int readers = 0;
    bool gives = true;
  };
  using Outcome = Turn::Outcome;
  Giving* Free();
  Giving* Find(int host);
  void End(const std::optional<Source>& from, Outcome outcome);

  const base::Duration patience_;
  std::vector<Giving> sources_ = {};
  int sending_ = 0;  ///< hosts that are sent it from here, to keep it
  int refused_ = 0;  ///< turns in a row that did not help others
  base::Deadline next_sending_ = base::Deadline::min();
  base::Waiters changed_ = {};
};

}  // namespace jobman::controller
