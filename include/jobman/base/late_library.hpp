#pragma once

#include "jobman/base/result.hpp"

namespace jobman::base {

/// A shared library that is opened when it is needed, not when the program starts: what few
/// commands use costs the others nothing (docs/adr/0033-curl-when-needed.md). It stays open: what
/// such libraries load leaves things behind that outlive a dlclose.
class LateLibrary {
 public:
  /// Opens `file`, named with the version of its ABI ("libssh.so.4"). `package` is Debian's.
  LateLibrary(const char* file, const char* package);

  /// Ok if it is open. Else kInternal, with how to install it.
  const Status& opened() const { return opened_; }
  /// The address of a function. The program ends if there is none: who can return an error asks
  /// opened() first.
  void* Find(const char* function) const;

 private:
  const char* file_;
  void* handle_;
  Status opened_ = Ok();
};

}  // namespace jobman::base
