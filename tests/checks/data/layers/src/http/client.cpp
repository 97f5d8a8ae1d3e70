#include "jobman/http/client.hpp"

#include <string>

#include "http/pool.hpp"
#include "pool.hpp"
