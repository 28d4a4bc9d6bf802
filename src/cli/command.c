/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of options, exit codes and commands. */
#include "rowferry/cli/command.h"

const struct option_row option_rows[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"--config", 'c', "FILE", "the configuration file"},
    [OPTION_NO_PROGRESS] = {"--no-progress", 0, NULL, "no progress on a terminal"},
    [OPTION_HELP] = {"--help", 'h', NULL, "show this help"},
    [OPTION_VERSION] = {"--version", 0, NULL, "show the version"},
    [OPTION_JSON] = {"--json", 0, NULL, "print JSON, for programs"},
    [OPTION_REFRESH] = {"--refresh", 0, NULL, "return when all sent documents are searchable"},
    [OPTION_ALLOW_DELETES] = {"--allow-deletes", 0, NULL,
                              "permit the deletes that the guard stopped"},
    [OPTION_ALLOW_REJECTIONS] = {"--allow-rejections", 0, NULL,
                                 "permit dead letters for the reason that the guard named"},
    [OPTION_DEAD_LETTERS_OK] = {"--dead-letters-ok", 0, NULL,
                                "exit with 0 even if dead letters are open"},
    [OPTION_PIPELINE] = {"--pipeline", 0, "NAME", "the pipeline, if the file has several"},
    [OPTION_AS] = {"--as", 0, "ROLE|URI",
                   "connect as this role; its password: $PGPASSWORD, ~/.pgpass, or asked"},
    [OPTION_READER] = {"--reader", 0, "ROLE",
                       "the role that rowferry reads as; default: that of source.uri"},
    [OPTION_NOTIFY] = {"--notify", 0, NULL,
                       "send NOTIFY with each changing statement; costs writers a lock"},
    [OPTION_NO_NOTIFY] = {"--no-notify", 0, NULL, "stop sending NOTIFY"},
    [OPTION_WHERE] = {"--where", 0, "SQL", "only rows that match the condition"},
    [OPTION_REASON] = {"--reason", 0, "TEXT",
                       "only those whose reason or error type contains the text"},
    [OPTION_OLDER] = {"--older", 0, "TIME", "only those open for longer: 90s, 15m, 12h, 7d"},
    [OPTION_NEWER] = {"--newer", 0, "TIME", "only those open for less long: 90s, 15m, 12h, 7d"},
    [OPTION_LIMIT] = {"--limit", 0, "N", "show at most N"},
    [OPTION_BY_REASON] = {"--by-reason", 0, NULL, "count them by error type instead"},
    [OPTION_ALL] = {"--all", 0, NULL, "all open dead letters, or all lines of check"},
    [OPTION_ONLY] = {"--only", 0, "LIST",
                     "only lines with these statuses: fail,warn,info,pass,skip"},
    [OPTION_YES] = {"--yes", 0, NULL, "do not ask"},
    [OPTION_SAMPLE] = {"--sample", 0, "N", "compare N random rows, and about as many documents"},
    [OPTION_REPAIR] = {"--repair", 0, NULL, "send the rows that differ, and nothing else"},
    [OPTION_FROM_HIT] = {"--from-hit", 0, "FILE",
                         "the row of a search's hit, in this file or -, instead of IDs"},
    [OPTION_PRETTY] = {"--pretty", 0, NULL, "print indented JSON, for people"},
    [OPTION_WATCH] = {"--watch", 0, NULL, "refresh every two seconds until interrupted"},
    [OPTION_WAIT] = {"--wait", 0, NULL,
                     "stand by while another process holds a pipeline, and take over when it ends"},
    [OPTION_ROLLBACK] = {"--rollback", 0, NULL,
                         "return to the former index, once it is up to date"},
    [OPTION_ABORT] = {"--abort", 0, NULL, "remove the unfinished index; the live index stays"},
    [OPTION_ADOPT] = {"--adopt", 0, NULL,
                      "replace an index of other origin that has the alias's name"},
    [OPTION_INDEX] = {"--index", 0, "NAME", "the index to create and remove; it must not exist"},
    [OPTION_ACCEPT_ADMIN] = {"--accept-admin", 0, NULL,
                             "the account is a superuser or an administrator by intention"},
    [OPTION_IMPLICIT] = {"--implicit", 0, NULL,
                         "let the first document create the index, without a mapping"},
    [OPTION_CLEAN] = {"--clean", 0, NULL,
                      "instead, delete the temporary indices that killed trials left"},
    [OPTION_SOURCE] = {"--source", 0, "URI", "the database to examine; a URI without a password"},
    [OPTION_TABLE] = {"--table", 0, "T", "the table, or a view over one"},
    [OPTION_WITH] = {"--with", 0, "CHILD...",
                     "tables that a foreign key joins, as objects and lists"},
    [OPTION_SERVICE] = {"--service", 0, "URL", "the search service; default http://127.0.0.1:9200"},
    [OPTION_KIND] = {"--kind", 0, "KIND",
                     "index, or data_stream for rows that are only added; default: index"},
    [OPTION_OUTPUT] = {"--output", 'o', "FILE", "write to a new file instead of standard output"},
    [OPTION_FORCE] = {"--force", 0, NULL, "replace the file if it exists"},
    [OPTION_AGAINST] = {"--against", 0, "FILE",
                        "compare the searches with the definition of another configuration"},
    [OPTION_HTML] = {"--html", 0, "FILE", "write a self-contained HTML page with plots"},
    [OPTION_QUIET] = {"--quiet", 'q', NULL,
                      "print nothing if all is well; log warnings and errors only"},
    [OPTION_METRICS_FILE] = {"--metrics-file", 0, "FILE",
                             "replace this file by metrics of the sync, for node_exporter"},
};

const struct exit_row exit_rows[] = {
    {EXIT_DONE, "done"},
    {EXIT_FAILED, "failed: a server refused, or index, table or mapping have changed"},
    {EXIT_USAGE, "usage or configuration: the file or the command line is wrong"},
    {EXIT_DEAD_LETTERS, "done, but dead letters are open"},
    {EXIT_DIFFERENCES, "found wrong: a FAIL of check, or index and table differ"},
    {EXIT_HELD, "another process holds the pipeline"},
    {EXIT_TEMPORARY, "temporary: a server or file could not be reached; try again later"},
    {0},
};

#define JSON OPTION_BIT(OPTION_JSON)
#define AS OPTION_BIT(OPTION_AS)
#define READER OPTION_BIT(OPTION_READER)
#define NOTIFY (OPTION_BIT(OPTION_NOTIFY) | OPTION_BIT(OPTION_NO_NOTIFY))
#define ONE OPTION_BIT(OPTION_PIPELINE)
#define CHOSEN (OPTION_BIT(OPTION_REASON) | OPTION_BIT(OPTION_OLDER) | OPTION_BIT(OPTION_NEWER))
/* Any command may fail temporarily because of standard output or the state file. */
#define EXITS(more)                                                                                \
    (1U << EXIT_DONE | 1U << EXIT_FAILED | 1U << EXIT_USAGE | 1U << EXIT_TEMPORARY | (more))
#define HELD (1U << EXIT_HELD)

const struct command commands[] = {
    {
        .name = "init",
        .operands = "",
        .summary = "examine a table and propose a configuration for it",
        .about =
            "Prints a commented configuration that passes check and sync as it is: key, "
            "capture, mapping and settings, each with its reason. On a terminal it asks for what "
            "it cannot find out. The password of --source comes from $PGPASSWORD or ~/.pgpass; "
            "the service's credential from $ROWFERRY_API_KEY, or $ROWFERRY_USER with "
            "$ROWFERRY_PASSWORD, its authority from $ROWFERRY_CA_FILE.",
        .options = OPTION_BIT(OPTION_SOURCE) | OPTION_BIT(OPTION_TABLE) | OPTION_BIT(OPTION_WITH) |
                   OPTION_BIT(OPTION_SERVICE) | OPTION_BIT(OPTION_KIND) |
                   OPTION_BIT(OPTION_OUTPUT) | OPTION_BIT(OPTION_FORCE) | OPTION_BIT(OPTION_YES),
        .exits = EXITS(0),
        .unconfigured = true,
        .run = command_init,
    },
    {
        .name = "check",
        .operands = "[PIPELINE...]",
        .summary = "check everything that a sync needs, and change nothing",
        .about = "Prints what fails (FAIL) or deserves a look (WARN), below it what to do, and the "
                 "number of the other lines. --all prints these too: PASS, INFO and SKIP. With "
                 "--json, one object per line for each pipeline, with all lines of the check or "
                 "those of --only.",
        .options = JSON | OPTION_BIT(OPTION_ACCEPT_ADMIN) | OPTION_BIT(OPTION_ALL) |
                   OPTION_BIT(OPTION_ONLY),
        .exits = EXITS(1U << EXIT_DIFFERENCES),
        .run = command_check,
    },
    {
        .name = "sync",
        .operands = "[PIPELINE...]",
        .summary = "bring the indices up to date, then exit: the scheduled job",
        .about =
            "The first run on an empty target builds the index; later runs send only what changed. "
            "Several pipelines run side by side. An interrupt lets requests in flight finish; a "
            "second one ends it at once. With --json, one object per line for each pipeline. With "
            "--quiet, a job that mails its output is silent if all went well.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | JSON | OPTION_BIT(OPTION_REFRESH) |
                   OPTION_BIT(OPTION_ALLOW_DELETES) | OPTION_BIT(OPTION_ALLOW_REJECTIONS) |
                   OPTION_BIT(OPTION_DEAD_LETTERS_OK) | OPTION_BIT(OPTION_METRICS_FILE) |
                   OPTION_BIT(OPTION_QUIET),
        .exits = EXITS(1U << EXIT_DEAD_LETTERS | HELD),
        .run = command_sync,
    },
    {
        .name = "run",
        .operands = "[PIPELINE...]",
        .summary = "keep the indices up to date: the continuous replicator",
        .about =
            "Builds missing indices, then sends changes within moments until it is stopped. If a "
            "server is unreachable, it waits. If a pipeline fails, only that one stops. An "
            "interrupt lets requests in flight finish; a second one ends it at once. On SIGHUP it "
            "reads secrets, limits, guard and log again from the configuration. With "
            "--wait, stands by for pipelines that another process holds, on this or another host.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | OPTION_BIT(OPTION_WAIT),
        .exits = EXITS(HELD),
        .run = command_run,
    },
    {
        .name = "reindex",
        .operands = "[PIPELINE...]",
        .summary = "rebuild the index while the live one stays, then swap",
        .about = "The live index stays searchable and up to date. The new one is filled, brought "
                 "up to date and checked; then the alias moves to it. If a run holds the pipeline, "
                 "the run rebuilds, and its progress is shown. An interrupt keeps what is built: "
                 "the next reindex, sync or run continues it. With --json, one object per line for "
                 "each pipeline.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | JSON | OPTION_BIT(OPTION_ROLLBACK) |
                   OPTION_BIT(OPTION_ABORT) | OPTION_BIT(OPTION_ADOPT) |
                   OPTION_BIT(OPTION_ALLOW_DELETES) | OPTION_BIT(OPTION_DEAD_LETTERS_OK),
        .exits = EXITS(1U << EXIT_DEAD_LETTERS | HELD),
        .run = command_reindex,
    },
    {
        .name = "status",
        .operands = "[PIPELINE...]",
        .summary = "show the state of each pipeline, and what to do next",
        .about = "Reads the state file, and asks the source for at most two seconds how many "
                 "changes are pending. --watch refreshes on a terminal; several pipelines are then "
                 "shown in brief. With --json, one object per line for each pipeline.",
        .options = JSON | OPTION_BIT(OPTION_WATCH),
        .exits = EXITS(0),
        .run = command_status,
    },
    {
        .name = "resync",
        .operands = "[ID...]",
        .summary = "read rows again and send them",
        .about = "Takes the rows with these keys, or with --where those that match a condition. A "
                 "key without a row is deleted from the index. If another process holds the "
                 "pipeline, that process does it, and this one waits. An interrupt ends only the "
                 "waiting: the request stays filed, and the holder or the next sync carries it "
                 "out. With --json, one object.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | JSON | ONE | OPTION_BIT(OPTION_WHERE),
        .exits = EXITS(1U << EXIT_DEAD_LETTERS | HELD),
        .run = command_resync,
    },
    {
        .name = "verify",
        .operands = "[PIPELINE...]",
        .summary = "compare index and table, document by document",
        .about = "A difference counts only if a second look confirms it, so a sync or run may "
                 "continue meanwhile. Rows that are not synced yet are counted apart. With --json, "
                 "one object per line for each pipeline; with --repair a second one, as of resync.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | JSON | OPTION_BIT(OPTION_SAMPLE) |
                   OPTION_BIT(OPTION_WHERE) | OPTION_BIT(OPTION_LIMIT) | OPTION_BIT(OPTION_REPAIR) |
                   OPTION_BIT(OPTION_ALLOW_DELETES),
        .exits = EXITS(1U << EXIT_DEAD_LETTERS | 1U << EXIT_DIFFERENCES | HELD),
        .run = command_verify,
    },
    {
        .name = "document",
        .operands = "[ID...]",
        .summary = "print documents and action lines as they would be sent",
        .about = "Reads the rows with these keys and sends nothing. The version in an action line "
                 "is the current time, as a sync would send it now. With --from-hit, finds "
                 "pipeline and key of a hit by its provenance, _index and source_id.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | ONE | OPTION_BIT(OPTION_PRETTY) |
                   OPTION_BIT(OPTION_FROM_HIT),
        .exits = EXITS(0),
        .run = command_document,
    },
    {
        .name = "smoke",
        .operands = "[PIPELINE...]",
        .summary = "test the service with one document in a temporary index",
        .about = "Creates an index <alias>-smoke-<random> with a mapping, posts a document and "
                 "waits until it is searchable, finds it with q=field:value, and deletes the index "
                 "in any case. With --json, one object per line for each pipeline.",
        .options = JSON | OPTION_BIT(OPTION_INDEX) | OPTION_BIT(OPTION_IMPLICIT) |
                   OPTION_BIT(OPTION_CLEAN),
        .exits = EXITS(0),
        .run = command_smoke,
    },
    {
        .name = "validate",
        .operands = "[PIPELINE...]",
        .summary = "test representative rows in a temporary index",
        .about = "Creates an index <alias>-validate-<random> with mapping and settings as "
                 "configured, fills it with rows of all kinds, and compares with the table: "
                 "counts, queries, analysis, filter, sort, relevance, vectors, semantic searches, "
                 "rate and storage. "
                 "The index is removed in any case; the live one is not touched. With --json, one "
                 "object per line for each pipeline.",
        .options = OPTION_BIT(OPTION_ACCEPT_ADMIN) | JSON | OPTION_BIT(OPTION_HTML) |
                   OPTION_BIT(OPTION_AGAINST),
        .exits = EXITS(1U << EXIT_DIFFERENCES),
        .run = command_validate,
    },
    {
        .name = "source install",
        .operands = "[PIPELINE...]",
        .summary = "install the change log in the source database",
        .about = "Creates the schema rowferry, and triggers on the pipelines' tables, with a short "
                 "lock on one table at a time. A second run changes nothing. With --json, one "
                 "object per line for each pipeline.",
        .options = JSON | AS | READER | NOTIFY,
        .exits = EXITS(0),
        .run = command_source_install,
    },
    {
        .name = "source upgrade",
        .operands = "[PIPELINE...]",
        .summary = "bring an older or incomplete change log up to date",
        .about =
            "Replaces what an earlier version installed and adds what is missing, such as triggers "
            "of new partitions. Positions stay valid unless changes may have been missed. With "
            "--json, one object per line for each pipeline.",
        .options = JSON | AS | READER,
        .exits = EXITS(0),
        .run = command_source_upgrade,
    },
    {
        .name = "source uninstall",
        .operands = "[PIPELINE...]",
        .summary = "remove the change log of the pipelines' tables",
        .about = "Removes the triggers, and also the schema if no table is captured any more. With "
                 "--json, one object per line for each pipeline.",
        .options = JSON | AS,
        .exits = EXITS(0),
        .run = command_source_uninstall,
    },
    {
        .name = "source print",
        .operands = "[PIPELINE...]",
        .summary = "print the SQL of source install, for a DBA",
        .about =
            "Prints SQL, with the grants of the reader's role, and changes nothing. With --json, "
            "one object per line for each pipeline.",
        .options = JSON | AS | READER | NOTIFY,
        .exits = EXITS(0),
        .run = command_source_print,
    },
    {
        .name = "deadletter list",
        .operands = "[PIPELINE...]",
        .summary = "list the operations that the service refused",
        .about =
            "Lists the dead letters of the pipelines, oldest first. The next successful operation "
            "on the same key clears a dead letter. With --json, one object per line for each dead "
            "letter, or with --by-reason for each error type.",
        .options = JSON | CHOSEN | OPTION_BIT(OPTION_LIMIT) | OPTION_BIT(OPTION_BY_REASON),
        .exits = EXITS(0),
        .run = command_deadletter_list,
    },
    {
        .name = "deadletter show",
        .operands = "KEY",
        .operands_most = 1,
        .summary = "print a dead letter with its full reason",
        .about = "With --json, one object.",
        .options = JSON | ONE,
        .exits = EXITS(0),
        .operands_least = 1,
        .run = command_deadletter_show,
    },
    {
        .name = "deadletter retry",
        .operands = "[KEY...]",
        .summary = "read the rows of dead letters again and send them",
        .about =
            "Without a KEY, takes all open ones, or those that --reason, --older and --newer "
            "choose, of the pipeline that --pipeline names or else of all. A document that "
            "succeeds is no longer a dead letter. If another process holds the pipeline, that "
            "process does it, as for resync. With --json, one object per line for each pipeline.",
        .options = JSON | ONE | CHOSEN,
        .exits = EXITS(1U << EXIT_DEAD_LETTERS | HELD),
        .run = command_deadletter_retry,
    },
    {
        .name = "deadletter discard",
        .operands = "[KEY...]",
        .summary = "discard dead letters",
        .about =
            "Without a KEY, takes those that --all, --reason, --older and --newer choose, of "
            "the pipeline that --pipeline names or else of all. Row and document stay "
            "unchanged. Asks first; without a terminal it needs --yes. With --json, one object "
            "per line for each pipeline.",
        .options = JSON | ONE | CHOSEN | OPTION_BIT(OPTION_ALL) | OPTION_BIT(OPTION_YES),
        .exits = EXITS(HELD),
        .run = command_deadletter_discard,
    },
    {
        .name = "pause",
        .operands = "[PIPELINE...]",
        .summary = "stop writing an index until it is resumed",
        .about = "A run that holds the pipeline first settles the requests in flight. The pause "
                 "outlasts the process and applies to sync, reindex and resync too. Changes are "
                 "kept meanwhile. With --json, one object per line for each pipeline.",
        .options = JSON,
        .exits = EXITS(0),
        .run = command_pause,
    },
    {
        .name = "resume",
        .operands = "[PIPELINE...]",
        .summary = "end a pause",
        .about = "A run that holds the pipeline continues where it stopped. With --json, one "
                 "object per line for each pipeline.",
        .options = JSON,
        .exits = EXITS(0),
        .run = command_resume,
    },
    {
        .name = "completion",
        .operands = "SHELL",
        .summary = "print the completion script for bash, zsh or fish",
        .about = "For the current shell: source <(rowferry completion bash), or for fish: rowferry "
                 "completion fish | source. The script's first lines say where to install it. It "
                 "asks the program for commands, options and names of pipelines.",
        .exits = EXITS(0),
        .operands_least = 1,
        .unconfigured = true,
        .run = command_completion,
    },
    {
        .name = "help",
        .operands = "[COMMAND...]",
        .summary = "show the help of the program or of a command",
        .about = "The same as --help.",
        .exits = EXITS(0),
        .unconfigured = true,
        .run = command_help,
    },
    {
        .name = "version",
        .operands = "",
        .summary = "show the version",
        .about = "The same as --version.",
        .exits = EXITS(0),
        .unconfigured = true,
        .run = command_version,
    },
    {0},
};
