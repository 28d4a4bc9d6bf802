-- SPDX-License-Identifier: Apache-2.0
-- The table of the example: Debian's package catalogue.
create table packages (
    source_id       text primary key,    -- package:architecture:version
    package         text not null,
    version         text not null,
    architecture    text not null,
    section         text,
    priority        text,
    maintainer      text,
    homepage        text,
    installed_size  bigint,              -- KiB
    size            bigint,              -- bytes
    depends         text[],
    tags            text[],
    description     text not null,
    description_md5 text,
    updated_at      timestamptz not null default now()
);

-- who installs triggers on a table owns it
alter table packages owner to rowferry;
