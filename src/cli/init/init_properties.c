/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the properties of a proposed mapping as lines, with the reasons in a column beside
 * them. */
#include <string.h>

#include "init/init.h"
#include "output/terminal.h"
#include "rowferry/base/text.h"

#define WHY_COLUMN_MOST 74

/* One property, or the end of one that has children. */
struct line {
    const struct proposed *p;
    int indent;
    bool ends;  /* the closing brackets */
    bool comma; /* another property follows */
};

static void init_properties_push_blanks(struct buf *out, int count)
{
    buf_printf(out, "%*s", count, "");
}

/* Appends the end of a property: its opening bracket if it has children, else its closing one. */
static void init_properties_push_end(struct buf *out, const struct line *l)
{
    if (l->p->count > 0) {
        buf_push_literal(out, ", \"properties\": {");
    } else {
        buf_printf(out, " }%s", l->comma && !l->p->left_out ? "," : "");
    }
}

/* Appends the part to the left of the reason. */
static void init_properties_push_left(struct buf *out, const struct line *l)
{
    init_properties_push_blanks(out, l->indent);
    if (l->ends) {
        buf_printf(out, "} }%s", l->comma ? "," : "");
        return;
    }
    buf_push_text(out, l->p->left_out ? "// " : "");
    text_json(out, l->p->name, strlen(l->p->name));
    buf_push_literal(out, ": { ");
    size_t len = strcspn(l->p->parameters, "\n");
    buf_push(out, l->p->parameters, len);
    if (l->p->parameters[len] == '\0') {
        init_properties_push_end(out, l);
    }
}

/* Appends the part below the reason. */
static void init_properties_push_below(struct buf *out, const struct line *l)
{
    const char *below = l->ends ? NULL : strchr(l->p->parameters, '\n');
    if (below != NULL) {
        init_properties_push_blanks(out, l->indent + 4);
        buf_push_text(out, below + 1);
        init_properties_push_end(out, l);
        buf_push_char(out, '\n');
    }
}

/* Returns the width in characters. */
static size_t init_properties_width(const struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++) {
        n += ((unsigned char)text->data[i] & 0xc0) != 0x80;
    }
    return n;
}

typedef void (*each_line)(void *context, const struct line *l);

static void init_properties_walk(const struct proposed *of, int indent, each_line tell,
                                 void *context)
{
    size_t last = 0;
    for (size_t i = 0; i < of->count; i++) {
        last = of->children[i].left_out ? last : i;
    }
    for (size_t i = 0; i < of->count; i++) {
        const struct proposed *p = &of->children[i];
        struct line l = {.p = p, .indent = indent, .comma = i < last};
        tell(context, &l);
        if (p->count > 0) {
            init_properties_walk(p, indent + 2, tell, context);
            l.ends = true;
            tell(context, &l);
        }
    }
}

static void init_properties_measure(void *context, const struct line *l)
{
    size_t *column = context;
    struct buf left;
    buf_init(&left, INIT_TEXT_BYTES);
    init_properties_push_left(&left, l);
    size_t w = init_properties_width(&left) + 2;
    *column = w > *column && w <= WHY_COLUMN_MOST ? w : *column;
    buf_release(&left);
}

struct writer {
    struct buf *out;
    size_t column;
};

static void init_properties_write_line(void *context, const struct line *l)
{
    struct writer *w = context;
    struct buf left;
    buf_init(&left, INIT_TEXT_BYTES);
    init_properties_push_left(&left, l);
    buf_push(w->out, buf_text(&left), left.len);
    if (!l->ends && l->p->why != NULL) {
        size_t used = init_properties_width(&left);
        init_properties_push_blanks(w->out, used + 2 < w->column ? (int)(w->column - used) : 2);
        buf_push_literal(w->out, "// ");
        terminal_push_safe(w->out, l->p->why, strlen(l->p->why));
    }
    buf_push_char(w->out, '\n');
    init_properties_push_below(w->out, l);
    buf_release(&left);
}

void init_write_properties(struct buf *out, const struct proposed *mapping, int indent)
{
    struct writer w = {.out = out};
    init_properties_walk(mapping, indent, init_properties_measure, &w.column);
    init_properties_walk(mapping, indent, init_properties_write_line, &w);
}
