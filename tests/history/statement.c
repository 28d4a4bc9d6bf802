/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of sessions in a history, and their numbers. */
#include <stdio.h>

#include "history.h"

#define IDS 70       /* the initial rows have ids 1 to 60 */
#define NEWEST 25    /* number of rows with the highest ids */
#define FRESH 100000 /* ids reserved per history */

#define REPLICA(sql)                                                                               \
    "set session_replication_role = replica; " sql "; set session_replication_role = origin"

const struct statement statements[] = {
    {60, NEED_IDLE, "begin", NULL},
    {4, NEED_IDLE, "begin isolation level repeatable read", NULL},
    {2, NEED_IDLE, "begin isolation level serializable", NULL},
    {7, NEED_OPEN, "commit", NULL},
    {2, NEED_OPEN, "rollback", NULL},
    {4, NEED_OPEN, "savepoint s", NULL},
    {4, NEED_OPEN, "rollback to savepoint s", NULL},
    {1, NEED_OPEN, "release savepoint s", NULL},
    {6, NEED_OPEN, "prepare transaction", NULL},

    {4, NEED_SUBSCRIBER, "update note set body = 'one %s' where id = %i", NULL},
    {4, NEED_SUBSCRIBER, "update note set body = 'some %s' where id %w", NULL},
    {2, NEED_SUBSCRIBER, "update note set body = body where id < %i", NULL},
    {3, 0, "update note set body = 'new %s' where id in (%k)", NULL},
    {4, 0, "update note set region = %r where id = %i", NULL},
    {2, 0, "update note set region = %r, body = 'moved %s' where id in (%k)", NULL},
    {3, 0, "update note set gone = not gone where id in (%i, %i)", NULL},
    {4, 0, "insert into note (id, region, body) values (%f, %r, 'in %s'), (%f + 1, %r, 'in')",
     NULL},
    {2, 0, "copy note (id, region, body) from stdin", "%f\t%r\tcopied %s\n"},

    {3, NEED_DELETES | NEED_SUBSCRIBER, "delete from note where id = %i", NULL},
    {2, NEED_DELETES | NEED_SUBSCRIBER, "delete from note where id %w", NULL},
    {2, NEED_DELETES, "delete from note where id in (%k)", NULL},
    {4, NEED_DELETES, "update note set id = %f where id = %i", NULL},
    {2, NEED_DELETES, "update note set id = %f, region = %r where id in (%k)", NULL},
    {2, NEED_DELETES | NEED_MERGE,
     "merge into note using (select %i::bigint as id) s on note.id = s.id "
     "when matched and note.region = 1 then delete "
     "when matched then update set body = 'merged %s' "
     "when not matched then insert (id, region, body) values (%f, %r, 'merged in')",
     NULL},

    {3, NEED_ONE_KEY,
     "insert into note (id, body) select i, 'up %s' from unnest(array[%i, %i, 1000 + %i]) i "
     "on conflict (id) do update set body = excluded.body, gone = false",
     NULL},
    {2, NEED_ONE_KEY, "insert into note (id, body) values (%i, 'if %s') on conflict do nothing",
     NULL},
    {1, NEED_ONE_KEY | NEED_DELETES, "update note set id = %i where id = %i", NULL},
    {1, NEED_ONE_KEY | NEED_DELETES,
     "with out as (delete from note where id = %i returning *) "
     "insert into note (id, body) select id + 1000000, 'again' from out",
     NULL},

    {2, NEED_PARENTS, "update note set owner = %o where id %w", NULL},
    {2, NEED_PARENTS, "delete from owner where id = %o", NULL},
    {2, NEED_PARENTS,
     "insert into owner values (%o, 'owner %s') on conflict (id) do update set name = "
     "excluded.name",
     NULL},
    {1, NEED_PARENTS, "update owner set id = id + 100 where id = %o", NULL},
    {2, NEED_PARENTS, "delete from editor where id = %o", NULL},
    {1, NEED_PARENTS, "insert into editor values (%o, 'editor') on conflict do nothing", NULL},
    {1, NEED_PARENTS, "update note set editor = %o where id %w", NULL},

    {2, 0, REPLICA("update note set body = 'replica %s' where id = %i"), NULL},
    {1, 0, REPLICA("insert into note (id, region, body) values (%f, %r, 'replica')"), NULL},
    {1, NEED_DELETES, REPLICA("delete from note where id in (%i, %i)"), NULL},
    {1, NEED_DELETES, REPLICA("update note set id = %f where id = %i"), NULL},

    {2, NEED_TRUNCATE, "truncate note cascade", NULL},

    {1, NEED_PARTITIONS,
     "create table note_%s partition of note for values in (%s + 10); "
     "insert into note (id, region, body) values (%f, %s + 10, 'in a new one')",
     NULL},
    {1, NEED_PARTITIONS,
     "create table note_%s (like note including all); "
     "insert into note_%s (id, region, body) values (%f, %s + 10, 'came with it'); "
     "alter table note attach partition note_%s for values in (%s + 10)",
     NULL},
    {1, NEED_PARTITIONS,
     "alter table note detach partition note_3; update note_3 set body = 'away %s'; "
     "alter table note attach partition note_3 for values in (3)",
     NULL},
    {2, NEED_PARTITIONS, "update note_1 set body = 'leaf %s' where id %w", NULL},
    {1, NEED_PARTITIONS, "delete from note_2_even where id = %i", NULL},
    {1, NEED_PARTITIONS | NEED_TRUNCATE, "truncate note_3", NULL},
    {1, NEED_PARTITIONS, "copy note_1 (id, region, body) from stdin", "%f\t1\tcopied %s\n"},

    {3, NEED_CHILDREN, "insert into note_1 (id, region, body) values (%f, %r, 'child %s')", NULL},
    {3, NEED_CHILDREN,
     "with out as (delete from only note where id = %i returning *) "
     "insert into note_2 select * from out",
     NULL},
    {3, NEED_CHILDREN,
     "with out as (delete from note_2 where id in (%i, %i, %i) returning *) "
     "insert into note_1 select * from out",
     NULL},
    {2, NEED_CHILDREN, "update only note set body = 'only %s' where id = %i", NULL},
    {2, NEED_CHILDREN, "update note_2 set id = %f where id = %i", NULL},

    {3, NEED_COMMENTS, "insert into comment select %f, id, 'said %s' from note where id = %i",
     NULL},
    {3, NEED_COMMENTS, "update comment set note = %i where id % 20 = %o", NULL},
    {2, NEED_COMMENTS, "update comment set body = 'edited %s' where note = %i", NULL},
    {2, NEED_COMMENTS, "delete from comment where id % 30 = %o", NULL},
    {1, NEED_COMMENTS | NEED_MERGE,
     "merge into comment c using note n on c.note = n.id and n.id = %i "
     "when matched then update set body = 'merged %s'",
     NULL},
    {1, NEED_COMMENTS | NEED_TRUNCATE, "truncate comment", NULL},
    {0, 0, NULL, NULL},
};

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void dice_step(struct dice *d, uint64_t seed, unsigned step)
{
    *d = (struct dice){mixed(mixed(seed + 0x9e3779b97f4a7c15u) + step), seed, step};
}

unsigned dice_roll(struct dice *d, unsigned sides)
{
    d->state += 0x9e3779b97f4a7c15u;
    return (unsigned)(mixed(d->state) >> 33) % sides;
}

static void expand_one(struct buf *out, char name, struct dice *d)
{
    unsigned first;
    switch (name) {
    case 'i':
        buf_printf(out, "%u", 1 + dice_roll(d, IDS));
        break;
    case 'w':
        first = 1 + dice_roll(d, IDS);
        buf_printf(out, "between %u and %u", first, first + dice_roll(d, 12));
        break;
    case 'k':
        buf_printf(out, "select id from note order by id desc limit 1 offset %u",
                   dice_roll(d, NEWEST));
        break;
    case 'f':
        buf_printf(out, "%llu", (unsigned long long)d->seed * FRESH + 1000 + d->step * 10);
        break;
    case 'r':
        buf_printf(out, "%u", 1 + dice_roll(d, 5));
        break;
    case 'o':
        buf_printf(out, "%u", 1 + dice_roll(d, 8));
        break;
    default:
        buf_printf(out, "%u", d->step);
    }
}

void statement_expand(struct buf *out, const char *text, struct dice *d)
{
    for (; *text != '\0'; text++) {
        bool number = *text == '%' && text[1] >= 'a' && text[1] <= 'z';
        if (number) {
            expand_one(out, *++text, d);
        } else {
            buf_push_char(out, *text);
        }
    }
}
