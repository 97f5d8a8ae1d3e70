#pragma once
#include <fstream>
