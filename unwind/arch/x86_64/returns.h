/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises return addresses by the code around them (x86-64). The caller has made sure that the bytes can be read;
 * safe in signal handlers. */
#ifndef HQ_UNWIND_RETURNS_H
#define HQ_UNWIND_RETURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RETURN_CALL_BYTES = 7, RETURN_SIGNAL_BYTES = 9 };

/* Is there a call instruction before it? Reads the RETURN_CALL_BYTES before. */
static inline bool return_is_after_call(const uint8_t *code)
{
    if (code[-5] == 0xe8)
        return true;
    for (int bytes = 2; bytes <= RETURN_CALL_BYTES; bytes++)
        if (code[-bytes] == 0xff && (code[1 - bytes] & 0x38) == 0x10)
            return true;
    return false;
}

/* Is that where signal handlers return to: mov $15, %eax; syscall? Reads RETURN_SIGNAL_BYTES. */
static inline bool return_is_of_signal(const uint8_t *code)
{
    static const uint8_t forms[2][RETURN_SIGNAL_BYTES] = {{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
                                                          {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}};

    return memcmp(code, forms[0], 9) == 0 || memcmp(code, forms[1], 7) == 0;
}

#endif
