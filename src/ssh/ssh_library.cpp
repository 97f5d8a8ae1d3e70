// The functions of libssh that jobman calls, by their own names, so that no caller knows: each
// passes its arguments on to the library, which the first one opens. A function that is missing
// here does not link.
#include "jobman/ssh/ssh_library.hpp"

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include "jobman/base/late_library.hpp"

namespace jobman::ssh {
namespace {

const base::LateLibrary& Libssh() {
  static const base::LateLibrary kLibssh("libssh.so.4", "libssh-4");
  return kLibssh;
}

template <class Function>
Function FindInLibssh(const char* name) {
  return reinterpret_cast<Function>(Libssh().Find(name));
}

}  // namespace

base::Status OpenSshLibrary() {
  return Libssh().opened();
}

}  // namespace jobman::ssh

// jobman is linked with nothing that calls them, so they are not exported: libssh's own calls find
// its own functions.
#define JM_SSH(result, name, parameters, arguments)                                    \
  extern "C" result name parameters {                                                  \
    static const auto kFunction = jobman::ssh::FindInLibssh<decltype(&(name))>(#name); \
    return kFunction arguments;                                                        \
  }

JM_SSH(int, ssh_blocking_flush, (ssh_session session, int timeout_ms), (session, timeout_ms))
JM_SSH(int, ssh_channel_close, (ssh_channel channel), (channel))
JM_SSH(void, ssh_channel_free, (ssh_channel channel), (channel))
JM_SSH(int, ssh_channel_is_closed, (ssh_channel channel), (channel))
JM_SSH(int, ssh_channel_is_eof, (ssh_channel channel), (channel))
JM_SSH(ssh_channel, ssh_channel_new, (ssh_session session), (session))
JM_SSH(int, ssh_channel_open_forward,
       (ssh_channel channel, const char* to, int to_port, const char* from, int from_port),
       (channel, to, to_port, from, from_port))
JM_SSH(int, ssh_channel_open_session, (ssh_channel channel), (channel))
JM_SSH(int, ssh_channel_read_nonblocking,
       (ssh_channel channel, void* to, uint32_t size, int is_stderr),
       (channel, to, size, is_stderr))
JM_SSH(int, ssh_channel_request_auth_agent, (ssh_channel channel), (channel))
JM_SSH(int, ssh_channel_request_exec, (ssh_channel channel, const char* command),
       (channel, command))
JM_SSH(int, ssh_channel_request_send_signal, (ssh_channel channel, const char* signal),
       (channel, signal))
JM_SSH(int, ssh_channel_send_eof, (ssh_channel channel), (channel))
JM_SSH(uint32_t, ssh_channel_window_size, (ssh_channel channel), (channel))
JM_SSH(int, ssh_channel_write, (ssh_channel channel, const void* bytes, uint32_t size),
       (channel, bytes, size))
JM_SSH(int, ssh_connect, (ssh_session session), (session))
JM_SSH(void, ssh_disconnect, (ssh_session session), (session))
JM_SSH(int, ssh_event_add_session, (ssh_event event, ssh_session session), (event, session))
JM_SSH(int, ssh_event_dopoll, (ssh_event event, int timeout), (event, timeout))
JM_SSH(void, ssh_event_free, (ssh_event event), (event))
JM_SSH(ssh_event, ssh_event_new, (), ())
JM_SSH(int, ssh_event_remove_session, (ssh_event event, ssh_session session), (event, session))
JM_SSH(void, ssh_free, (ssh_session session), (session))
JM_SSH(const char*, ssh_get_error, (void* of), (of))
JM_SSH(int, ssh_get_server_publickey, (ssh_session session, ssh_key* key), (session, key))
JM_SSH(int, ssh_get_status, (ssh_session session), (session))
JM_SSH(int, ssh_is_connected, (ssh_session session), (session))
JM_SSH(void, ssh_key_free, (ssh_key key), (key))
JM_SSH(ssh_keytypes_e, ssh_key_type, (ssh_key key), (key))
JM_SSH(const char*, ssh_key_type_to_char, (ssh_keytypes_e type), (type))
JM_SSH(ssh_session, ssh_new, (), ())
JM_SSH(int, ssh_options_set, (ssh_session session, ssh_options_e type, const void* value),
       (session, type, value))
JM_SSH(int, ssh_pki_export_privkey_base64,
       (ssh_key key, const char* passphrase, ssh_auth_callback ask, void* data, char** text),
       (key, passphrase, ask, data, text))
JM_SSH(int, ssh_pki_export_pubkey_base64, (ssh_key key, char** text), (key, text))
JM_SSH(int, ssh_pki_generate, (ssh_keytypes_e type, int parameter, ssh_key* key),
       (type, parameter, key))
JM_SSH(int, ssh_pki_import_privkey_base64,
       (const char* text, const char* passphrase, ssh_auth_callback ask, void* data, ssh_key* key),
       (text, passphrase, ask, data, key))
JM_SSH(const char*, ssh_pki_key_ecdsa_name, (ssh_key key), (key))
JM_SSH(int, ssh_remove_channel_callbacks, (ssh_channel channel, ssh_channel_callbacks callbacks),
       (channel, callbacks))
JM_SSH(int, ssh_send_keepalive, (ssh_session session), (session))
JM_SSH(int, ssh_set_agent_socket, (ssh_session session, socket_t socket), (session, socket))
JM_SSH(void, ssh_set_blocking, (ssh_session session, int blocking), (session, blocking))
JM_SSH(int, ssh_set_callbacks, (ssh_session session, ssh_callbacks callbacks), (session, callbacks))
JM_SSH(int, ssh_set_channel_callbacks, (ssh_channel channel, ssh_channel_callbacks callbacks),
       (channel, callbacks))
JM_SSH(void, ssh_set_counters, (ssh_session session, ssh_counter sent, ssh_counter received),
       (session, sent, received))
JM_SSH(void, ssh_string_free_char, (char* text), (text))
JM_SSH(int, ssh_userauth_agent, (ssh_session session, const char* user), (session, user))
JM_SSH(int, ssh_userauth_publickey, (ssh_session session, const char* user, ssh_key key),
       (session, user, key))
JM_SSH(const char*, ssh_version, (int least), (least))
