// SPDX-License-Identifier: MIT

// The Swift module of glibc omits this header.
#ifdef __linux__
#include <malloc.h>
#endif
