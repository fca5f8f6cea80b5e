// Opens the memory: a SQLite file in Steward's folder, or a Postgres.
import { dirname, join } from 'node:path';
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { homeSeal } from '@subluminal/plane/crypto';
import { makeFolders } from '@subluminal/plane/os';
import { uuidv7 } from 'uuidv7';
import { coreForgetText } from './core-facts.ts';
import { PendingEmbeddings } from './embed-pending.ts';
import type { Embedder } from './embedders/types.ts';
import { ForgottenTexts } from './forgotten-texts.ts';
import { StewardMemory } from './memory.ts';
import type { MemoryParts } from './memory-parts.ts';
import { type RowSeals, rowSeals } from './sealed-rows.ts';
import type { MemoryStore } from './store/types.ts';
import type { Memory } from './types.ts';

export interface MemoryOptions {
  /** The home of `sub`, whose key signs the entries. */
  readonly home: string;
  /** `postgres://…`; the file `steward/memory.db` of the home when there is none. */
  readonly database?: string;
  /** Without one, a search knows words alone. */
  readonly embedder?: Embedder;
  /** Knows the values of the vault; known formats of secrets are taken out in any case. */
  readonly redactor?: Redactor;
  readonly nowMs?: () => number;
  readonly entriesMax?: MemoryParts['entriesMax'];
  readonly alsoForget?: MemoryParts['alsoForget'];
}

const ENTRIES_MAX = {
  user_instruction: 50_000,
  agent_observation: 100_000,
  tool_result: 50_000,
  external_content: 50_000,
};
const POSTGRES_URL = /^postgres(?:ql)?:/i;
const HASHES_AT_ONCE = 500;

/** Throws a failure of the database or of a file. */
export async function openMemory(options: MemoryOptions): Promise<Memory> {
  const { home, embedder, nowMs = Date.now, entriesMax = ENTRIES_MAX } = options;
  const file = join(home, 'steward', 'memory.db');
  makeFolders(dirname(file));
  const forgotten = new ForgottenTexts(join(home, 'steward', 'memory.forgotten'));
  const seals = rowSeals(homeSeal(home));
  const store = await openStore(options.database ?? file);
  try {
    await forgetAgain(store, forgotten, seals);
    const embeddings = new PendingEmbeddings(store, embedder);
    await embeddings.start();
    const redactor = options.redactor ?? createRedactor({});
    const { alsoForget } = options;
    const kept = { store, seals, forgotten, embeddings, alsoForget };
    const parts = { ...kept, redactor, nowMs, entriesMax };
    return new StewardMemory({ ...parts, newId: () => uuidv7() }, await countsIn(store));
  } catch (cause) {
    await store.close();
    throw cause;
  }
}

async function openStore(database: string): Promise<MemoryStore> {
  if (POSTGRES_URL.test(database)) {
    const { openPostgresMemory } = await import('./store/postgres-store.ts');
    return openPostgresMemory(database);
  }
  const { openSqliteMemory } = await import('./store/sqlite-store.ts');
  return openSqliteMemory({ file: database });
}

/** An old copy of the database was put back: what the user has had forgotten since goes again. */
async function forgetAgain(
  store: MemoryStore,
  forgotten: ForgottenTexts,
  seals: RowSeals,
): Promise<void> {
  const hashes = forgotten.all();
  let removed = 0;
  for (let from = 0; from < hashes.length; from += HASHES_AT_ONCE) {
    removed += await store.removeByHash(hashes.slice(from, from + HASHES_AT_ONCE));
  }
  const facts = (await store.core()).filter((row) =>
    forgotten.has(seals.hashText(coreForgetText(row))),
  );
  await store.removeCore(facts.map(({ key }) => key));
  if (removed + facts.length > 0) await store.scrub();
}

async function countsIn(store: MemoryStore): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { provenance, count } of await store.count()) {
    counts.set(provenance, (counts.get(provenance) ?? 0) + count);
  }
  return counts;
}
