/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the wrappers of libgomp's functions: gomp.c (regions) and tasks.c. */
#ifndef HQ_PRELOAD_OPENMP_GOMP_H
#define HQ_PRELOAD_OPENMP_GOMP_H

#include "preload/export.h"
#include "preload/openmp/region.h"
#include "preload/openmp/runtime.h"

typedef void body_function(void *);

#define CALLER                   __builtin_extract_return_addr(__builtin_return_address(0))
/* `place` is of the module that calls: the body that it hands over, for who called last may have left by a jump. */
#define RUNTIME(function, place) ((__typeof__(&function))runtime_find(#function, (const void *)(place)))

#endif
