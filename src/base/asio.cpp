// The one translation unit that holds Asio's compiled half (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
