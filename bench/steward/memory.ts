// Searches of Steward's memory over 100,000 entries, by words and by vectors, and what it
// costs to remember something. `SUB_TEST_POSTGRES=postgres://…` names a database to measure as well; it is filled, and
// emptied again.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeSeal, sha256 } from '@subluminal/plane/crypto';
import { uuidv7 } from 'uuidv7';
import type { Embedder } from '../../packages/steward/memory/embedders/types.ts';
import { type Memory, openMemory } from '../../packages/steward/memory/index.ts';
import { rowSeals } from '../../packages/steward/memory/sealed-rows.ts';
import { openPostgresMemory } from '../../packages/steward/memory/store/postgres-store.ts';
import { openSqliteMemory } from '../../packages/steward/memory/store/sqlite-store.ts';
import type { MemoryStore } from '../../packages/steward/memory/store/types.ts';
import { type BenchOptions, goalLine, measureAsync, report } from '../measure.ts';

const ENTRIES = 100_000;
/** Each entry that is written waits for the disk: they are made in a folder in memory, where there is one. */
const FAST_FOLDER = '/dev/shm';
const WORDS = 20_000;
const WORDS_OF_TEXT = 14;
const DIMENSIONS = 512;
const NS_OF_MS = 1e6;
const FLOOR = 'search by words, no match';
const BY_WORDS = 'search by words';
const BY_BOTH = 'search by words and vectors';
const REMEMBER = 'remember';
const P50_GOALS_MS = { [BY_WORDS]: 150, [BY_BOTH]: 150, [REMEMBER]: 20 };
const PROVENANCES = ['user_instruction', 'agent_observation', 'tool_result', 'external_content'];

export async function measureMemory({ samples, json }: BenchOptions): Promise<void> {
  await measureEngine({ samples, json });
  const database = process.env['SUB_TEST_POSTGRES'];
  if (database !== undefined) await measureEngine({ samples, json, database });
}

interface EngineBench {
  readonly samples: number;
  readonly json: boolean;
  readonly database?: string;
}

async function measureEngine({ samples, json, database }: EngineBench): Promise<void> {
  const fast = existsSync(FAST_FOLDER) ? FAST_FOLDER : tmpdir();
  const made = mkdtempSync(join(fast, 'bench-memory-'));
  // One for each: what one writes would take the cache of the other, and Steward has its memory to itself.
  const newHome = () => mkdtempSync(join(tmpdir(), 'bench-memory-'));
  const homes = { words: newHome(), both: newHome() };
  const engine = database === undefined ? {} : { database };
  const open = () =>
    database === undefined
      ? openSqliteMemory({ file: join(made, 'steward', 'memory.db') })
      : openPostgresMemory(database);
  const embedder = hashEmbedder();
  try {
    // Makes the folder and the key.
    const first = await openMemory({ home: made, ...engine });
    await first.setCore('bench', 'yes');
    await first.close();
    const store = await open();
    await fill(store, made);
    await store.close();
    const filled = await openMemory({ home: made, ...engine, embedder });
    await filled.embedded();
    await filled.close();
    for (const home of Object.values(homes)) cpSync(made, home, { recursive: true });
    const words = await openMemory({ home: homes.words, ...engine });
    const both = await openMemory({ home: homes.both, ...engine, embedder });
    await contest({ words, both, samples, json });
    await words.close();
    await both.close();
    if (database !== undefined) await empty(await open());
  } finally {
    for (const folder of [made, homes.words, homes.both]) rmSync(folder, { recursive: true });
  }
}

interface Contest {
  readonly words: Memory;
  readonly both: Memory;
  readonly samples: number;
  readonly json: boolean;
}

async function contest({ words, both, samples, json }: Contest): Promise<void> {
  const { engine, entries, vectors } = await both.status();
  const measurement = await measureAsync(
    [
      { name: FLOOR, run: (index) => words.search({ text: `missing${index}` }) },
      { name: BY_WORDS, run: (index) => words.search({ text: textOf(index * 7) }) },
      { name: BY_BOTH, run: (index) => both.search({ text: textOf(index * 7) }) },
      {
        name: REMEMBER,
        run: (index) =>
          both.add({ text: `New ${index}: ${textOf(index)}`, provenance: 'agent_observation' }),
      },
    ],
    { samples, warmup: 3 },
  );
  const kept = `${entries.active.toLocaleString('en')} entries, vectors ${vectors.kind}`;
  const title = `Steward's memory on ${engine}: ${kept}`;
  process.stdout.write(report(measurement, { title, floor: FLOOR, json }));
  if (json) return;
  for (const [name, goalMs] of Object.entries(P50_GOALS_MS)) {
    const p50Ns = measurement.timings.find((timing) => timing.name === name)?.p50Ns ?? Number.NaN;
    process.stdout.write(goalLine(`${name}, p50 ms`, p50Ns / NS_OF_MS, goalMs));
  }
}

async function fill(store: MemoryStore, home: string): Promise<void> {
  const seals = rowSeals(homeSeal(home));
  for (let number = 0; number < ENTRIES; number += 1) {
    const text = textOf(number);
    const row = seals.sealEntry({
      id: uuidv7(),
      text,
      provenance: PROVENANCES[number % PROVENANCES.length] ?? 'tool_result',
      source: '{}',
      conversation: null,
      state: 'active',
      reasons: '[]',
      tags: '[]',
      createdMs: Date.now(),
      confirmedMs: null,
      lastUsedMs: null,
      hash: sha256(`${number} ${text}`),
    });
    await store.put(row);
  }
}

async function empty(store: MemoryStore): Promise<void> {
  for (;;) {
    const rows = await store.list({ limit: 5_000 });
    if (rows.length === 0) break;
    await store.remove(rows.map(({ id }) => id));
  }
  await store.removeCore(['bench']);
  await store.close();
}

/** Few words are common and many are rare, as in any language. */
function textOf(number: number): string {
  let state = number + 1;
  const words = Array.from({ length: WORDS_OF_TEXT }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `word${Math.floor(WORDS ** (state / 2 ** 32))}`;
  });
  return words.join(' ');
}

/** Vectors as long as those of the model, in no time: what is measured is the search. */
function hashEmbedder(): Embedder {
  return {
    name: 'hash',
    dimensions: DIMENSIONS,
    embed: (texts) => Promise.resolve(texts.map(hashVector)),
    close: () => Promise.resolve(),
  };
}

function hashVector(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.split(' ')) {
    let state = Number.parseInt(sha256(word).slice(0, 8), 16);
    for (let place = 0; place < DIMENSIONS; place += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      vector[place] = (vector[place] ?? 0) + state / 2 ** 31 - 1;
    }
  }
  return vector;
}
