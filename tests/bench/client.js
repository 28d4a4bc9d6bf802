// SPDX-License-Identifier: Apache-2.0
// The benchmark's table by PostgreSQL's and OpenSearch's Node clients: client.js URI URL
const { Client: Postgres } = require('pg');
const QueryStream = require('pg-query-stream');
const { Client } = require('@opensearch-project/opensearch');

async function main() {
  const source = new Postgres({ connectionString: process.argv[2] });
  await source.connect();
  const client = new Client({ node: process.argv[3] });
  const rows = source.query(new QueryStream('select * from clients.events', [], { batchSize: 5000 }));
  const result = await client.helpers.bulk({
    datasource: rows,
    onDocument: (row) => ({ index: { _index: 'events', _id: String(row.id) } }),
    onDrop: (dropped) => { throw new Error(JSON.stringify(dropped)); },
    concurrency: 4,
  });
  await source.end();
  if (result.failed > 0) process.exitCode = 1;
}

main();
