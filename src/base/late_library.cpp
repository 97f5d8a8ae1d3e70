#include "jobman/base/late_library.hpp"

#include <dlfcn.h>

#include <string>

#include "jobman/base/check.hpp"

namespace jobman::base {

LateLibrary::LateLibrary(const char* file, const char* package)
    : file_(file), handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const why = dlerror();
  opened_ = Error{.code = Code::kInternal,
                  .message = std::string(file) + " cannot be used: " + (why ? why : "no reason"),
                  .hint = std::string("install it: apt-get install ") + package};
}

void* LateLibrary::Find(const char* function) const {
  if (!opened_.ok())
    JM_CHECK(false, (opened_.error().ToString() + "; " + opened_.error().hint).c_str());
  void* const address = dlsym(handle_, function);
  if (address == nullptr) JM_CHECK(false, (std::string(file_) + " lacks " + function).c_str());
  return address;
}

}  // namespace jobman::base
