#include <algorithm>
#include <array>

#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::core {
namespace {

/// The longest that OpenSSH makes, of 16384 bits, has some 2800 bytes.
constexpr std::size_t kLongestKey = 8192;

/// What sshd accepts without further settings. Source: sshd_config(5), PubkeyAcceptedAlgorithms;
/// sshd(8), AUTHORIZED_KEYS FILE FORMAT.
constexpr std::array<std::string_view, 7> kTypes = {"ssh-ed25519",
                                                    "ssh-rsa",
                                                    "ecdsa-sha2-nistp256",
                                                    "ecdsa-sha2-nistp384",
                                                    "ecdsa-sha2-nistp521",
                                                    "sk-ssh-ed25519@openssh.com",
                                                    "sk-ecdsa-sha2-nistp256@openssh.com"};

bool IsType(std::string_view word) {
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

base::Error NoKey(std::string message, std::string hint) {
  return base::InvalidArgument("this is no public key: " + std::move(message), std::move(hint));
}

constexpr const char* kGivePub = "give the file that ends with .pub, or its one line";

/// Other forms of keys, and what is not one line.
base::Status CheckText(std::string_view text) {
  if (text.empty()) return NoKey("there is no text", kGivePub);
  if (base::Contains(text, "PRIVATE KEY") || text.starts_with("PuTTY-User-Key-File")) {
    return base::InvalidArgument("this is a private key, which nobody else should have",
                                 std::string(kGivePub) + "; ssh-keygen -y -f FILE shows it");
  }
  if (base::Contains(text, "SSH2 PUBLIC KEY")) {
    return NoKey("it is written as RFC 4716 has it", "ssh-keygen -i -f FILE writes it in one line");
  }
  if (text.find_first_of("\r\n") != std::string_view::npos)
    return NoKey("it has several lines", "add one key at a time");
  if (text.size() > kLongestKey) return NoKey("it is too long", kGivePub);
  while (!text.empty()) {
    const auto [code, size] = base::FirstChar(text);
    if (code != '\t' && (code == base::Utf8Char::kInvalid || base::IsControl(code)))
      return NoKey("it has characters that cannot be printed", kGivePub);
    text.remove_prefix(size);
  }
  return base::Ok();
}

/// Those between blanks.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words = base::Split(base::ReplaceAll(std::string(text), "\t", " "), ' ');
  std::erase(words, std::string{});
  return words;
}

base::Status CheckType(const std::vector<std::string>& words) {
  const std::string& type = words.front();
  if (IsType(type)) return base::Ok();
  if (std::any_of(words.begin(), words.end(), [](const auto& word) { return IsType(word); }))
    return NoKey("it has options before the key", "leave them out: hosts do not take them");
  if (base::Contains(type, "-cert-v01@"))
    return NoKey("it is a certificate", "give the public key that it was made for");
  if (type == "ssh-dss")
    return base::InvalidArgument("hosts take no DSA keys any more",
                                 "make another one: ssh-keygen -t ed25519");
  return NoKey("it does not begin with a type of key such as ssh-ed25519", kGivePub);
}

/// The data begin with the type's length, in four bytes, and the type. Source: RFC 4253, 6.6.
bool IsOfType(const std::string& data, std::string_view type) {
  std::string begin{0, 0, 0, static_cast<char>(type.size())};
  begin += type;
  begin.resize(begin.size() / 3 * 3);    // the next character depends on what follows
  constexpr std::size_t kShortest = 68;  // an ed25519 key
  const std::size_t end =
      data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  const bool padded =
      end == std::string::npos || data.substr(end) == "=" || data.substr(end) == "==";
  return padded && data.size() % 4 == 0 && data.size() >= kShortest &&
         data.starts_with(base::Base64(begin));
}

}  // namespace

base::Result<PublicKey> ParsePublicKey(std::string_view text) {
  text = base::Trim(text);
  JM_TRY(CheckText(text));
  std::vector<std::string> words = WordsOf(text);
  JM_TRY(CheckType(words));
  PublicKey key{.type = words[0], .data = words.size() > 1 ? words[1] : ""};
  if (!IsOfType(key.data, key.type)) {
    return NoKey("what follows " + key.type + " is damaged, or of another type",
                 "copy the whole line");
  }
  words.erase(words.begin(), words.begin() + 2);
  key.comment = base::Join(words, " ");
  return key;
}

}  // namespace jobman::core
