# SPDX-License-Identifier: Apache-2.0
"""The benchmark's table by PostgreSQL's and OpenSearch's Python clients: client.py URI URL"""
import sys

import psycopg2
import psycopg2.extras
from opensearchpy import OpenSearch, helpers


def actions(uri):
    connection = psycopg2.connect(uri)
    with connection.cursor("events", cursor_factory=psycopg2.extras.RealDictCursor) as cursor:
        cursor.itersize = 5000
        cursor.execute("select * from clients.events")
        for row in cursor:
            yield {"_index": "events", "_id": str(row["id"]), "_source": row}


def main():
    client = OpenSearch(sys.argv[2], timeout=60)
    for good, item in helpers.parallel_bulk(client, actions(sys.argv[1]), thread_count=4, chunk_size=5000):
        if not good:
            raise SystemExit(item)


main()
