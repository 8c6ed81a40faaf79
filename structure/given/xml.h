/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An XML document as a row of elements. This header hides the parser (expat in xml_expat.c; xml_none.c stands in where
 * the build found none): no other file includes its headers.
 *
 * Constructs that structure files do not need are refused, with line and reason: document types and the entities that
 * they declare, text between elements, processing instructions, elements more than XML_DEPTH_MAX deep. Comments are
 * skipped.
 */
#ifndef HQ_STRUCTURE_GIVEN_XML_H
#define HQ_STRUCTURE_GIVEN_XML_H

#include "common/err.h"

enum { XML_DEPTH_MAX = 5000 };

struct xml_element {
    const char *name;
    const char *const *attributes; /* name, value, name, value ... NULL; in UTF-8, valid until the function returns */
    unsigned long line;            /* of the file, from 1 */
};

/* An error ends the reading; it is given the file and the line as its prefix. */
struct xml_handler {
    struct hq_error *(*open)(void *arg, const struct xml_element *element);
    struct hq_error *(*close)(void *arg, unsigned long line);
};

/* HQ_DATA: the file cannot be read, is no XML, or has what is refused; else the handler's error. */
struct hq_error *xml_read(const char *path, const struct xml_handler *handler, void *arg);

#endif
