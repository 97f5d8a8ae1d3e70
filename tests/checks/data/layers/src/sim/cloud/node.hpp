#pragma once
#include "sim/wire/json.hpp"
