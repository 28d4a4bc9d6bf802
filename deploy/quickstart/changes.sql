-- SPDX-License-Identifier: Apache-2.0
-- 500 rows changed, 100 deleted, 100 inserted, in one transaction.
begin;

update packages
   set description = description || ' (changed by the quickstart)', updated_at = now()
 where source_id in (select source_id from packages order by md5(source_id) limit 500);

delete from packages
 where source_id in (select source_id from packages order by md5(source_id) offset 500 limit 100);

insert into packages (source_id, package, version, architecture, section, tags, description)
select 'quickstart-' || i || ':all:1.0', 'quickstart-' || i, '1.0', 'all', 'misc', array['made::up'],
       'Row number ' || i || ' that the quickstart inserted'
  from generate_series(1, 100) as i;

commit;
