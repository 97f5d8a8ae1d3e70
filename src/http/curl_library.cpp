// The functions of libcurl that jobman calls, by their own names, so that no caller knows: each
// passes its arguments on to the library, which the first one opens. A function that is missing
// here does not link.
#include "http/curl_library.hpp"

#include <curl/curl.h>
#include <dlfcn.h>

#include <cstdarg>
#include <string>
#include <type_traits>

#include "jobman/base/check.hpp"

namespace jobman::http {
namespace {

/// The name is part of the ABI: the same since curl 7.16 (2006), whatever TLS library it is built
/// with (https://curl.se/libcurl/abi.html).
constexpr const char* kLibrary = "libcurl.so.4";

struct Functions {
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_getdate) getdate = nullptr;
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_setopt) multi_setopt = nullptr;
  decltype(&curl_multi_socket_action) multi_socket_action = nullptr;
  decltype(&curl_multi_strerror) multi_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
};

base::Error CannotOpen() {
  const char* const why = dlerror();
  return {.code = base::Code::kInternal,
          .message = std::string("libcurl cannot be used: ") + (why ? why : kLibrary),
          .hint = "install it: apt-get install libcurl4"};
}

/// It stays open: libcurl and what it loads leave things behind that outlive a dlclose.
base::Result<Functions> Open() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CannotOpen();
  bool complete = true;
  const auto find = [library, &complete](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
  Functions found;
  find("curl_easy_cleanup", found.easy_cleanup);
  find("curl_easy_getinfo", found.easy_getinfo);
  find("curl_easy_init", found.easy_init);
  find("curl_easy_setopt", found.easy_setopt);
  find("curl_easy_strerror", found.easy_strerror);
  find("curl_getdate", found.getdate);
  find("curl_global_init", found.global_init);
  find("curl_multi_add_handle", found.multi_add_handle);
  find("curl_multi_cleanup", found.multi_cleanup);
  find("curl_multi_info_read", found.multi_info_read);
  find("curl_multi_init", found.multi_init);
  find("curl_multi_remove_handle", found.multi_remove_handle);
  find("curl_multi_setopt", found.multi_setopt);
  find("curl_multi_socket_action", found.multi_socket_action);
  find("curl_multi_strerror", found.multi_strerror);
  find("curl_slist_append", found.slist_append);
  find("curl_slist_free_all", found.slist_free_all);
  find("curl_version_info", found.version_info);
  if (!complete) return CannotOpen();
  return found;
}

const base::Result<Functions>& Opened() {
  static const base::Result<Functions> kOpened = Open();
  return kOpened;
}

/// Where no error can be returned; whoever makes a transport or a mailer has asked before.
const Functions& Curl() {
  JM_CHECK(Opened().ok(), "libcurl is opened before it is used");
  return *Opened();
}

}  // namespace

base::Status OpenCurlLibrary() {
  if (!Opened().ok()) return Opened().error();
  return base::Ok();
}

}  // namespace jobman::http

// Names in parentheses are no macros: curl.h has one for each function that takes "...". What these
// are given is a long, a pointer or a curl_off_t, each as large as a pointer.
static_assert(sizeof(long) == sizeof(void*) && sizeof(curl_off_t) == sizeof(void*));

// Hidden: libcurl's own calls must find its own functions.
#define JM_CURL extern "C" __attribute__((visibility("hidden")))
using jobman::http::Curl;

JM_CURL void curl_easy_cleanup(CURL* easy) {
  Curl().easy_cleanup(easy);
}
JM_CURL CURLcode(curl_easy_getinfo)(CURL* easy, CURLINFO info, ...) {
  va_list rest;
  va_start(rest, info);
  void* const where = va_arg(rest, void*);
  va_end(rest);
  return Curl().easy_getinfo(easy, info, where);
}
JM_CURL CURL* curl_easy_init() {
  return Curl().easy_init();
}
JM_CURL CURLcode(curl_easy_setopt)(CURL* easy, CURLoption option, ...) {
  va_list rest;
  va_start(rest, option);
  void* const value = va_arg(rest, void*);
  va_end(rest);
  return Curl().easy_setopt(easy, option, value);
}
JM_CURL const char* curl_easy_strerror(CURLcode code) {
  return Curl().easy_strerror(code);
}
JM_CURL time_t curl_getdate(const char* text, const time_t* unused) {
  return Curl().getdate(text, unused);
}
JM_CURL CURLcode curl_global_init(long flags) {
  return Curl().global_init(flags);
}
JM_CURL CURLMcode curl_multi_add_handle(CURLM* multi, CURL* easy) {
  return Curl().multi_add_handle(multi, easy);
}
JM_CURL CURLMcode curl_multi_cleanup(CURLM* multi) {
  return Curl().multi_cleanup(multi);
}
JM_CURL CURLMsg* curl_multi_info_read(CURLM* multi, int* left) {
  return Curl().multi_info_read(multi, left);
}
JM_CURL CURLM* curl_multi_init() {
  return Curl().multi_init();
}
JM_CURL CURLMcode curl_multi_remove_handle(CURLM* multi, CURL* easy) {
  return Curl().multi_remove_handle(multi, easy);
}
JM_CURL CURLMcode(curl_multi_setopt)(CURLM* multi, CURLMoption option, ...) {
  va_list rest;
  va_start(rest, option);
  void* const value = va_arg(rest, void*);
  va_end(rest);
  return Curl().multi_setopt(multi, option, value);
}
JM_CURL CURLMcode curl_multi_socket_action(CURLM* multi, curl_socket_t socket, int events,
                                           int* running) {
  return Curl().multi_socket_action(multi, socket, events, running);
}
JM_CURL const char* curl_multi_strerror(CURLMcode code) {
  return Curl().multi_strerror(code);
}
JM_CURL curl_slist* curl_slist_append(curl_slist* list, const char* text) {
  return Curl().slist_append(list, text);
}
JM_CURL void curl_slist_free_all(curl_slist* list) {
  Curl().slist_free_all(list);
}
JM_CURL curl_version_info_data* curl_version_info(CURLversion age) {
  return Curl().version_info(age);
}
