#include "sim/wire/json.hpp"
