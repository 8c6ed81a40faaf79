/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HQ_PRELOAD_VDSO_H
#define HQ_PRELOAD_VDSO_H

/* The kernel's own library is no file: keeps its image beside the measurements, once, so that its code can be named later. */
void vdso_keep(void);

#endif
