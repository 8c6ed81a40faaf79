/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the wrappers of libgomp's functions: gomp.c (regions) and tasks.c. */
#ifndef HQ_PRELOAD_OPENMP_GOMP_H
#define HQ_PRELOAD_OPENMP_GOMP_H

#include "preload/export.h"
#include "preload/openmp/region.h"
#include "preload/openmp/runtime.h"

typedef void body_function(void *);

#define CALLER            __builtin_extract_return_addr(__builtin_return_address(0))
#define RUNTIME(function) ((__typeof__(&function))runtime_find(#function, CALLER))

#endif
