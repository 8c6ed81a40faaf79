/* SPDX-License-Identifier: BSD-3-Clause */
/* XML by expat; xml_none.c stands in where there is none. */
#include "structure/given/xml.h"
#include "common/file.h"
#include "common/mem.h"
#include <expat.h>
#include <string.h>

enum { PIECE = 16 << 20 }; /* expat takes an int, and looks again at what a piece leaves unfinished */

struct walk {
    XML_Parser parser;
    const struct xml_handler *handler;
    void *arg;
    const char *path;
    unsigned depth;
    struct hq_error *error;
};

static unsigned long line_of(const struct walk *w)
{
/* Is called otherwise since expat 2.9, which warns of the old name. */
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    return XML_GetCurrentLineNumber64(w->parser);
#else
    return XML_GetCurrentLineNumber(w->parser);
#endif
}

/* The first error counts: expat may call on until it stops. */
static void stop(struct walk *w, struct hq_error *error)
{
    error = hq_error_prefix(error, "%s:%lu", w->path, line_of(w));
    if (w->error) {
        hq_error_free(error);
        return;
    }
    w->error = error;
    XML_StopParser(w->parser, XML_FALSE);
}

static void XMLCALL on_open(void *arg, const XML_Char *name, const XML_Char **attributes)
{
    struct walk *w = arg;
    struct xml_element element = {name, (const char *const *)attributes, line_of(w)};

    if (w->error)
        return;
    if (++w->depth > XML_DEPTH_MAX) {
        stop(w, hq_error_new(HQ_DATA, "elements lie more than %d deep in each other", XML_DEPTH_MAX));
        return;
    }
    struct hq_error *error = w->handler->open(w->arg, &element);

    if (error)
        stop(w, error);
}

static void XMLCALL on_close(void *arg, const XML_Char *name)
{
    struct walk *w = arg;

    (void)name;
    w->depth--;
    struct hq_error *error = w->error ? NULL : w->handler->close(w->arg, line_of(w));

    if (error)
        stop(w, error);
}

static void XMLCALL on_text(void *arg, const XML_Char *text, int length)
{
    struct walk *w = arg;

    for (int i = 0; i < length && !w->error; i++)
        if (!strchr(" \t\r\n", text[i]))
            stop(w, hq_error_new(HQ_DATA, "there is text between the elements: structure files have none"));
}

static void XMLCALL on_doctype(void *arg, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int has_internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    stop(arg, hq_error_new(HQ_DATA, "a document type (<!DOCTYPE ...>) is refused, and so are entities: take it out"));
}

static void XMLCALL on_instruction(void *arg, const XML_Char *target, const XML_Char *data)
{
    (void)data;
    stop(arg, hq_error_new(HQ_DATA, "a processing instruction (<?%s ...>) is refused: take it out", target));
}

static struct hq_error *feed(struct walk *w, const struct file_map *file)
{
    for (size_t at = 0; !w->error;) {
        size_t n = file->size - at < PIECE ? file->size - at : PIECE;
        bool last = at + n == file->size;

        if (XML_Parse(w->parser, (const char *)file->data + at, (int)n, last) != XML_STATUS_OK && !w->error) {
            if (XML_GetErrorCode(w->parser) == XML_ERROR_NO_MEMORY)
                mem_exhausted();
            return hq_error_new(HQ_DATA, "%s:%lu: no XML: %s", w->path, line_of(w),
                                XML_ErrorString(XML_GetErrorCode(w->parser)));
        }
        at += n;
        if (last)
            break;
    }
    return w->error;
}

struct hq_error *xml_read(const char *path, const struct xml_handler *handler, void *arg)
{
    struct walk w = {.handler = handler, .arg = arg, .path = path};
    struct file_map file = {0};

    HQ_TRY(file_map_open(path, &file));
    w.parser = XML_ParserCreate(NULL);
    struct hq_error *error = &hq_error_no_memory;

    if (w.parser) {
        XML_SetUserData(w.parser, &w);
        XML_SetElementHandler(w.parser, on_open, on_close);
        XML_SetCharacterDataHandler(w.parser, on_text);
        XML_SetStartDoctypeDeclHandler(w.parser, on_doctype);
        XML_SetProcessingInstructionHandler(w.parser, on_instruction);
        error = feed(&w, &file);
        XML_ParserFree(w.parser);
    }
    file_map_close(&file);
    return error;
}
