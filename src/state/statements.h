/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements on the state file, except those that pipeline_row derives from its tables. Each
 * line has a name and a text; ?1 is the pipeline's id.
 */
#pragma once

/* The pipeline row of the next generation, and the current generation number. */
#define NEXT "(select next from rebuild where pipeline = ?1)"
#define CURRENT_GENERATION "(select generation_number from pipeline where id = ?1)"

/* A column of dead letters has its name, its parameter, what a new refusal of the same key sets,
 * and its place in an export. A later column of an export may be missing. */
#define LETTER_COLUMNS                                                                             \
    "key, kind, reason, http_status, version, first_us, last_us, attempts, error_type"
#define LETTER_VALUES "?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, ?8"
#define LETTER_UPDATES                                                                             \
    "kind = excluded.kind, reason = excluded.reason, http_status = excluded.http_status,"          \
    " error_type = excluded.error_type, version = excluded.version, last_us = excluded.last_us,"   \
    " attempts = attempts + 1"
#define LETTER_IMPORTS                                                                             \
    "json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),"       \
    " json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),"      \
    " json_extract(value, '$[6]'), json_extract(value, '$[7]'),"                                   \
    " coalesce(json_extract(value, '$[8]'), '')"

/* The dead letters of the current generation. */
#define CURRENT_LETTERS                                                                            \
    " from dead_letter where pipeline = ?1 and generation_number = " CURRENT_GENERATION

/* The filter of dead letters. ?6 is the earliest first_us, ?5 the maximum number of rows. */
#define WANTED_LETTERS                                                                             \
    " and first_us <= ?2 and (?3 is null or error_type = ?3 or instr(reason, ?3) > 0)"             \
    " and (?4 is null or key = ?4)"

#define STATEMENTS(X)                                                                              \
    X(SQL_BEGIN, "begin immediate")                                                                \
    X(SQL_COMMIT, "commit")                                                                        \
    X(SQL_ROLLBACK, "rollback")                                                                    \
    X(SQL_PIPELINE_FIND, "select id from pipeline where name = ?2")                                \
    X(SQL_PIPELINE_ADD, "insert or ignore into pipeline (name) values (?2)")                       \
    X(SQL_CHECKPOINT_LOAD,                                                                         \
      "select phase, generation, index_uuid, mapping_fingerprint, table_fingerprint,"              \
      " source_identity, position, generation_number, clock_ceiling, settled_at_us, documents,"    \
      " sum = row_sum(id, name, phase, generation, index_uuid, mapping_fingerprint,"               \
      " table_fingerprint, source_identity, position, generation_number, clock_ceiling,"           \
      " settled_at_us, documents)"                                                                 \
      " from pipeline where id = ?1")                                                              \
    X(SQL_SETTLE, "update pipeline set position = coalesce(?2, position),"                         \
                  " documents = documents + ?3, settled_at_us = case when ?2 is null and ?3 = 0"   \
                  " then settled_at_us else ?4 end where id = ?1")                                 \
    X(SQL_RAISE_CEILING,                                                                           \
      "update pipeline set clock_ceiling = max(clock_ceiling, ?2) where id = ?1")                  \
    X(SQL_LOWER_CEILING,                                                                           \
      "update pipeline set clock_ceiling = min(clock_ceiling, ?2) where id = ?1")                  \
    X(SQL_BEGIN_GENERATION,                                                                        \
      "update pipeline set phase = 1, generation = ?2, generation_number = ?3,"                    \
      " mapping_fingerprint = ?4, table_fingerprint = ?5, source_identity = ?6,"                   \
      " index_uuid = null, position = null, documents = 0"                                         \
      " where id = ?1 and generation_number < ?3")                                                 \
    X(SQL_SET_UUID, "update pipeline set index_uuid = ?2 where id = ?1 and phase > 0")             \
    X(SQL_GO_LIVE,                                                                                 \
      "update pipeline set phase = 2, settled_at_us = ?2 where id = ?1 and phase > 0")             \
    X(SQL_LETTER_ADD,                                                                              \
      "insert into dead_letter (pipeline, generation_number, " LETTER_COLUMNS ")"                  \
      " values (?1, " CURRENT_GENERATION ", " LETTER_VALUES ")"                                    \
      " on conflict (pipeline, generation_number, key) do update set " LETTER_UPDATES              \
      " where excluded.version >= dead_letter.version")                                            \
    X(SQL_LETTER_CLEAR, "delete" CURRENT_LETTERS " and key = ?2")                                  \
    X(SQL_LETTERS_ANY, "select 1" CURRENT_LETTERS " limit 1")                                      \
    X(SQL_LETTERS_DROP_UNBORN,                                                                     \
      "delete from dead_letter where pipeline = ?1 and generation_number ="                        \
      " (select generation_number from pipeline where id = ?1 and phase = 1)")                     \
    X(SQL_LETTERS_DROP_FORMER, "delete from dead_letter where pipeline = ?1"                       \
                               " and generation_number <> " CURRENT_GENERATION)                    \
    X(SQL_LETTERS_COUNT, "select count(*)" CURRENT_LETTERS)                                        \
    X(SQL_LETTERS_EACH,                                                                            \
      "select " LETTER_COLUMNS CURRENT_LETTERS " and (first_us, key) > (?6, ?7)" WANTED_LETTERS    \
      " order by first_us, key limit ?5")                                                          \
    X(SQL_LETTERS_GROUPS,                                                                          \
      "select error_type, http_status = 0, count(*), min(first_us), max(last_us)" CURRENT_LETTERS  \
      " and first_us >= ?6" WANTED_LETTERS " group by 1, 2 order by 3 desc, 1, 2 limit ?5")        \
    X(SQL_LETTERS_EXPORT,                                                                          \
      "select json_object('total', (select count(*)" CURRENT_LETTERS "), 'letters',"               \
      " (select json_group_array(json(letter)) from (select json_array(" LETTER_COLUMNS ")"        \
      " as letter" CURRENT_LETTERS " order by first_us, key limit ?2)))")                          \
    X(SQL_LETTERS_IMPORT,                                                                          \
      "insert or ignore into dead_letter (pipeline, generation_number, " LETTER_COLUMNS ")"        \
      " select ?1, " CURRENT_GENERATION ", " LETTER_IMPORTS " from json_each(?2, '$.letters')")    \
    X(SQL_LETTERS_CUT,                                                                             \
      "select coalesce(json_extract(?2, '$.total'), 0) - (select count(*)" CURRENT_LETTERS ")")    \
    X(SQL_TAKE_OVER, "update pipeline set phase = 2, generation = ?2, generation_number = ?3,"     \
                     " mapping_fingerprint = ?4, table_fingerprint = ?5, source_identity = ?6,"    \
                     " index_uuid = ?7, position = ?8, clock_ceiling = max(clock_ceiling, ?9),"    \
                     " settled_at_us = ?10, documents = 0 where id = ?1")                          \
    X(SQL_PROGRESS_CLEAR, "update working set stage = '' where pipeline = ?1")                     \
    X(SQL_DEFINITION_ADD, "insert or ignore into definition (fingerprint, words) values (?2, ?3)") \
    X(SQL_DEFINITION_READ, "select words from definition where fingerprint = ?2")                  \
    X(SQL_DEFINITION_TRIM,                                                                         \
      "delete from definition where rowid <= (select max(rowid) - 64 from definition)"             \
      " and fingerprint not in (select mapping_fingerprint from pipeline where"                    \
      " mapping_fingerprint is not null union select table_fingerprint from pipeline"              \
      " where table_fingerprint is not null)")                                                     \
    X(SQL_EXTEND, "update pipeline set mapping_fingerprint = ?2, table_fingerprint = ?3"           \
                  " where id = ?1 and phase = 2")                                                  \
    X(SQL_EXTENSION_ADD, "insert or ignore into extended (pipeline, generation, property, at_us)"  \
                         " select id, generation, ?2, ?3 from pipeline where id = ?1")             \
    X(SQL_EXTENSION_READ,                                                                          \
      "select group_concat(property, ', '), min(at_us) from (select property, at_us"               \
      " from extended where pipeline = ?1 and generation = ?2 order by property)")                 \
    X(SQL_EXTENSION_TRIM,                                                                          \
      "delete from extended where pipeline = ?1 and generation not in (select generation"          \
      " from extended where pipeline = ?1 group by generation order by max(at_us) desc limit 16)") \
    X(SQL_REBUILD_READ, "select kind, adopt, begun_us from rebuild where pipeline = ?1")           \
    X(SQL_REBUILD_ENTER,                                                                           \
      "insert into pipeline (name, generation_number, clock_ceiling)"                              \
      " select ?2, generation_number, clock_ceiling from pipeline where id = ?1")                  \
    X(SQL_REBUILD_BACK,                                                                            \
      "update pipeline set phase = 1, generation = ?3, index_uuid = ?4,"                           \
      " mapping_fingerprint = ?5, table_fingerprint = ?6, source_identity = ?7, position = ?8,"    \
      " clock_ceiling = max(clock_ceiling, ?9) where name = ?2 and id <> ?1")                      \
    X(SQL_REBUILD_BEGIN, "insert into rebuild (pipeline, next, kind, adopt, begun_us)"             \
                         " select ?1, id, ?3, ?4, ?5 from pipeline where name = ?2")               \
    X(SQL_REBUILD_DELETE, "delete from rebuild where pipeline = ?1")                               \
    X(SQL_NEXT_DROP_LETTERS, "delete from dead_letter where pipeline = " NEXT)                     \
    X(SQL_NEXT_MOVE_FORMER, "update or replace former set pipeline = ?1 where pipeline = " NEXT)   \
    X(SQL_NEXT_DROP_PIPELINE, "delete from pipeline where id = " NEXT)                             \
    X(SQL_LIVE_DROP_LETTERS, "delete from dead_letter where pipeline = ?1")                        \
    X(SQL_PROMOTE_LETTERS,                                                                         \
      "update dead_letter set pipeline = ?1, generation_number = " CURRENT_GENERATION              \
      " where pipeline = " NEXT)                                                                   \
    X(SQL_PROMOTE,                                                                                 \
      "update pipeline set phase = 2, settled_at_us = ?2, generation = n.generation,"              \
      " index_uuid = n.index_uuid, mapping_fingerprint = n.mapping_fingerprint,"                   \
      " table_fingerprint = n.table_fingerprint, source_identity = n.source_identity,"             \
      " position = n.position,"                                                                    \
      " generation_number = max(pipeline.generation_number, n.generation_number),"                 \
      " clock_ceiling = max(pipeline.clock_ceiling, n.clock_ceiling), documents = n.documents"     \
      " from (select p.* from pipeline p where p.id = " NEXT ") n where pipeline.id = ?1")         \
    X(SQL_FORMER_WRITE,                                                                            \
      "insert or replace into former (pipeline, consumer, left_us) values (?1, ?2, ?3)")           \
    X(SQL_FORMER_OLDEST,                                                                           \
      "select consumer, left_us, (select count(*) from former where pipeline = ?1)"                \
      " from former where pipeline = ?1 order by left_us, consumer limit 1")                       \
    X(SQL_FORMER_NEWEST,                                                                           \
      "select consumer, left_us, (select count(*) from former where pipeline = ?1)"                \
      " from former where pipeline = ?1 and left_us > 0 order by left_us desc, consumer limit 1")  \
    X(SQL_FORMER_ADD,                                                                              \
      "insert or ignore into former (pipeline, consumer, left_us) values (?1, ?2, ?3)")            \
    X(SQL_FORMER_DELETE, "delete from former where pipeline = ?1 and consumer = ?2")               \
    X(SQL_RUN_BEGIN, "insert into run (pipeline, command, started_us) values (?1, ?2, ?3)")        \
    X(SQL_RUN_TRIM,                                                                                \
      "delete from run where pipeline = ?1 and id <="                                              \
      " (select id from run where pipeline = ?1 order by id desc limit 1 offset ?2)")              \
    X(SQL_RUN_END,                                                                                 \
      "update run set ended_us = ?3, upserts = ?4, deletes = ?5, rejected = ?6, bytes = ?7,"       \
      " exit_code = ?8, message = ?9 where pipeline = ?1 and id = ?2")                             \
    X(SQL_RUNS_LAST,                                                                               \
      "select id, command, started_us, ended_us, upserts, deletes, rejected, bytes,"               \
      " exit_code, message from run where pipeline = ?1 order by id desc limit ?2")                \
    X(SQL_REQUEST_FILE,                                                                            \
      "insert into request (pipeline, command, arguments, filed_us) values (?1, ?2, ?3, ?4)")      \
    X(SQL_REQUEST_TRIM,                                                                            \
      "delete from request where pipeline = ?1 and state > 1 and answered_us < ?3 and id <="       \
      " (select id from request where pipeline = ?1 and state > 1 order by id desc limit 1"        \
      " offset ?2)")                                                                               \
    X(SQL_REQUEST_OLDEST, "select id, command, arguments from request"                             \
                          " where pipeline = ?1 and state = 0 and id > ?2 order by id limit 1")    \
    X(SQL_REQUEST_TAKE, "update request set state = 1 where pipeline = ?1 and id = ?2")            \
    X(SQL_REQUEST_ANSWER,                                                                          \
      "update request set state = ?3, answer = ?4, answered_us = ?5,"                              \
      " arguments = case when ?3 > 1 then '' else arguments end where pipeline = ?1 and id = ?2")  \
    X(SQL_REQUEST_READ, "select state, answer from request where pipeline = ?1 and id = ?2")       \
    X(SQL_REQUESTS_REFILE, "update request set state = 0 where pipeline = ?1 and state = 1")
