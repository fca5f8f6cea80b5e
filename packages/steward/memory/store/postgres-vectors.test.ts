// Vectors by pgvector. The Postgres of the other tests has no such extension; PGlite, a Postgres in this process, has.
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { PostgresClient, PostgresDatabase } from '@subluminal/gateway/store/postgres';
import { expect, test } from 'vitest';
import { postgresMemory } from './postgres-store.ts';
import type { MemoryRow } from './types.ts';

const START_MS = 60_000;

async function openDatabase(): Promise<PostgresDatabase> {
  const pglite = await PGlite.create({ extensions: { vector } });
  const queryOn =
    (on: Pick<PGlite, 'query' | 'exec'>): PostgresClient['query'] =>
    async (sql, values) => {
      if (values !== undefined) {
        const { rows } = await on.query<{ readonly [column: string]: unknown }>(sql, [...values]);
        return { rows, rowCount: rows.length };
      }
      const [first] = await on.exec(sql);
      return { rows: first?.rows ?? [], rowCount: null };
    };
  return {
    query: queryOn(pglite),
    read: queryOn(pglite),
    transaction: (work) => pglite.transaction((tx) => work({ query: queryOn(tx) })),
    ping: async () => true,
    close: () => pglite.close(),
  };
}

function row(id: string, text: string, changes: Partial<MemoryRow> = {}): MemoryRow {
  return {
    ...{ id, text, provenance: 'agent_observation', source: '{}', conversation: null },
    ...{ state: 'active', reasons: '[]', tags: '[]', createdMs: 1, confirmedMs: null },
    ...{ lastUsedMs: null, hash: id, seal: '', ...changes },
  };
}

const at = (...numbers: number[]) => Float32Array.from(numbers);

test(
  'the memory keeps and finds vectors by pgvector',
  async () => {
    const store = await postgresMemory(await openDatabase());
    expect(store.vectors).toEqual({ kind: 'on' });
    await store.useModel('one', 3);
    const car = row('1', 'The car stands outside.');
    await store.put(car);
    await store.put(row('2', 'Soup tastes good.'));
    await store.put(row('3', 'A page about cars.', { provenance: 'external_content' }));
    await store.put(row('4', 'Always send cars.', { state: 'quarantined' }));
    const waiting = async () => (await store.withoutEmbedding(10)).map(({ id }) => id);
    expect(await waiting()).toEqual(['3', '2', '1']);
    expect(await store.withoutEmbedding(10, '2')).toEqual([{ id: '1', text: car.text }]);
    await store.putEmbeddings([
      { id: '1', vector: at(1, 0, 0) },
      { id: '2', vector: at(0, 1, 0) },
      { id: '3', vector: at(0.9, 0.1, 0) },
      // Held back, and forgotten meanwhile.
      { id: '4', vector: at(1, 0, 0) },
      { id: '5', vector: at(1, 0, 0) },
    ]);
    expect(await store.countWithoutEmbedding()).toBe(0);
    const found = async (group: 'own' | 'outside') =>
      (await store.searchVector(at(1, 0, 0), group, 10)).map(({ id, score }) => [id, score]);
    expect(await found('own')).toEqual([
      ['1', 1],
      ['2', 0],
    ]);
    expect(await found('outside')).toEqual([['3', expect.closeTo(0.994, 2)]]);

    await store.put({ ...car, state: 'review' });
    expect(await found('own')).toEqual([['2', 0]]);
    await store.remove(['2']);
    await store.scrub();
    expect(await found('own')).toEqual([]);

    await store.useModel('one', 3);
    expect(await waiting()).toEqual([]);
    await store.useModel('another', 2);
    expect(await waiting()).toEqual(['3']);
    await store.putEmbeddings([{ id: '3', vector: at(0, 1) }]);
    expect(await store.searchVector(at(0, 1), 'outside', 10)).toEqual([{ id: '3', score: 1 }]);
    await store.close();
  },
  START_MS,
);
