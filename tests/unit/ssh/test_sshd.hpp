#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::ssh {

/// A temporary folder, removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  base::Path path = {};
};

/// A real OpenSSH server on an address of 127.0.0.0/8, for the user who runs the test. It ends with
/// the object, together with its children.
class TestSshd {
 public:
  /// Why no server can run here; empty if it can.
  static std::string Missing();

  explicit TestSshd(std::vector<std::string> extra_config = {});
  ~TestSshd();
  TestSshd(const TestSshd&) = delete;
  TestSshd& operator=(const TestSshd&) = delete;

  /// A target with a key that the server accepts.
  ports::HostTarget Target() const;
  /// "ssh-ed25519 AAAA..." of the server.
  std::string HostKey() const;
  /// Starts it again on the same address, with a new host key.
  void RestartWithNewHostKey();
  /// Ends the server and every connection.
  void Kill();
  /// Ends the server processes of open connections; the server itself goes on.
  void KillConnections();
  /// Adds a line of authorized_keys.
  void Authorize(const std::string& public_key);
  base::Path folder() const { return dir_.path; }

 private:
  void Start();
  TempDir dir_;
  std::vector<std::string> extra_config_;
  std::string address_;
  int port_ = 0;
  pid_t pid_ = -1;
};

/// A free TCP port of 127.0.0.1.
int UnusedPort(const std::string& address);
std::string LoginName();
/// Runs a program and returns its exit code.
int RunProgram(const std::vector<std::string>& argv);

}  // namespace jobman::ssh
