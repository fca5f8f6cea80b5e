// The memory: what is kept, what comes back, and what only the user may change.
import { type Failure, isFailure } from '@subluminal/contracts';
import { externalContent, neutral } from '@subluminal/core/detect';
import { allRows } from './all-rows.ts';
import { auditMemory } from './audit.ts';
import { coreFacts, coreForgetText, removeCoreFact, setCoreFact } from './core-facts.ts';
import { admitText } from './integrity/admit-text.ts';
import {
  containing,
  type MemoryParts,
  memoryRefusal,
  SOURCE_UNITS_MAX,
  shortSource,
  TEXT_UNITS_MAX,
  textProblem,
} from './memory-parts.ts';
import { fusedScores, searchWords } from './rank-hits.ts';
import { fileRequest, readRequest, requestBody } from './requests.ts';
import { entryOf } from './sealed-rows.ts';
import type { MemoryRow, SearchGroup } from './store/types.ts';
import { freshnessOf, isFromOutside, isProvenance, trustOf } from './trust.ts';
import type {
  AddedMemory,
  AuditReport,
  CoreFact,
  ForgetReport,
  ForgetTarget,
  FoundMemory,
  Memory,
  MemoryEntry,
  MemoryList,
  MemoryQuery,
  MemoryRequest,
  MemoryState,
  MemoryStatus,
  NewMemory,
  NewMemoryRequest,
  Provenance,
} from './types.ts';

const RESULTS = 8;
const RESULTS_MAX = 50;
const CANDIDATES = 50;
const PAGE = 100;
const PAGE_MAX = 500;
const REVIEW_MAX = 500;
/** A shorter text would take half the memory with it. */
const FORGET_UNITS_MIN = 3;
const GROUPS: readonly SearchGroup[] = ['own', 'outside'];

export class StewardMemory implements Memory {
  readonly #parts: MemoryParts;
  readonly #counts: Map<string, number>;
  /** Writers go one after the other: each first looks at what is there. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(parts: MemoryParts, counts: ReadonlyMap<string, number>) {
    this.#parts = parts;
    this.#counts = new Map(counts);
  }

  add(entry: NewMemory): Promise<AddedMemory> {
    return this.#inTurn(() => this.#add(entry));
  }

  async #add(entry: NewMemory): Promise<AddedMemory> {
    const { seals, store, forgotten, redactor } = this.#parts;
    const problem = textProblem(entry.text);
    if (problem !== undefined) return { kind: 'refused', failure: problem };
    const admitted = admitText(entry.text, redactor);
    const hash = seals.hashText(admitted.text);
    const isUsers = entry.provenance === 'user_instruction';
    if (forgotten.has(hash)) {
      if (!isUsers)
        return { kind: 'refused', failure: memoryRefusal('It was forgotten by the user.') };
      forgotten.remove(hash);
    }
    const known = await store.byHash(hash);
    if (known !== undefined) {
      const merged = await this.#merge(known, isUsers);
      if (merged !== undefined) return { kind: 'merged', entry: merged };
    }
    const full = await this.#makeRoom(entry.provenance);
    if (full !== undefined) return { kind: 'refused', failure: full };
    // The user's own words are orders: that is what they are for.
    const orders = isUsers ? [] : admitted.orders;
    const state: MemoryState = orders.length > 0 ? 'quarantined' : 'active';
    const row = seals.sealEntry({
      id: this.#parts.newId(),
      text: admitted.text,
      provenance: entry.provenance,
      source: JSON.stringify(shortSource(entry.source ?? {})),
      conversation: entry.conversation?.slice(0, SOURCE_UNITS_MAX) ?? null,
      state,
      reasons: JSON.stringify(orders),
      tags: JSON.stringify(admitted.tags),
      createdMs: this.#parts.nowMs(),
      confirmedMs: null,
      lastUsedMs: null,
      hash,
    });
    await this.#parts.store.put(row);
    if (state === 'active') this.#parts.embeddings.add(row.id);
    this.#count(entry.provenance, 1);
    return { kind: state === 'active' ? 'kept' : 'quarantined', entry: this.#entry(row) };
  }

  /** What is known stays as it is, unless the user says it. Nothing when somebody has changed the row. */
  async #merge(known: MemoryRow, isUsers: boolean): Promise<MemoryEntry | undefined> {
    if (!this.#parts.seals.isEntryGenuine(known)) {
      await this.#remove([known]);
      return undefined;
    }
    if (!isUsers || known.provenance === 'user_instruction') return this.#entry(known);
    return this.#entry(await this.#confirmed(known));
  }

  /** A flood of one provenance takes room from nothing else. */
  async #makeRoom(provenance: Provenance): Promise<Failure | undefined> {
    const max = this.#parts.entriesMax[provenance];
    if ((this.#counts.get(provenance) ?? 0) < max) return undefined;
    if (provenance === 'user_instruction')
      return memoryRefusal(`There are ${max} entries already.`);
    const ids = await this.#parts.store.oldest(provenance, Math.ceil(max / 100));
    if (ids.length === 0) return memoryRefusal(`There are ${max} confirmed entries already.`);
    await this.#parts.store.remove(ids);
    this.#count(provenance, -ids.length);
    return undefined;
  }

  async search({ text, limit = RESULTS }: MemoryQuery): Promise<readonly FoundMemory[]> {
    const { store, embeddings } = this.#parts;
    const query = text.slice(0, TEXT_UNITS_MAX);
    const words = searchWords(query);
    const vector = await embeddings.ofQuery(query);
    const [own, outside] = await Promise.all(
      GROUPS.map(async (group) => ({
        text: await store.searchText(words, group, CANDIDATES),
        vector: vector === undefined ? [] : await store.searchVector(vector, group, CANDIDATES),
      })),
    );
    if (own === undefined || outside === undefined) return [];
    const scores = fusedScores(own, outside);
    const rows = await store.byIds([...scores.keys()]);
    const found = this.#best(rows, scores, Math.min(limit, RESULTS_MAX));
    const ids = found.map(({ entry }) => entry.id);
    if (ids.length > 0) await store.markUsed(ids, this.#parts.nowMs());
    return found;
  }

  /** Signatures are checked from the best on, until there are enough: a row that somebody has changed is left out. */
  #best(
    rows: readonly MemoryRow[],
    scores: ReadonlyMap<string, number>,
    limit: number,
  ): readonly FoundMemory[] {
    const nowMs = this.#parts.nowMs();
    const weighted = rows
      .flatMap((row) => {
        const { provenance } = row;
        if (row.state !== 'active' || !isProvenance(provenance)) return [];
        const facts = { ...row, provenance };
        const weight = trustOf(facts) * freshnessOf(facts, nowMs);
        return [{ row, score: (scores.get(row.id) ?? 0) * weight }];
      })
      .toSorted((left, right) => right.score - left.score);
    const found: FoundMemory[] = [];
    for (const { row, score } of weighted) {
      if (found.length >= limit) break;
      const entry = this.#genuine(row);
      if (entry !== undefined) found.push({ entry, score, marked: marked(entry) });
    }
    return found;
  }

  core(): Promise<readonly CoreFact[]> {
    return coreFacts(this.#parts);
  }

  setCore(key: string, value: string): Promise<CoreFact | Failure> {
    return this.#inTurn(() => setCoreFact(this.#parts, key, value));
  }

  removeCore(key: string): Promise<Failure | undefined> {
    return this.#inTurn(() => removeCoreFact(this.#parts, key));
  }

  request(request: NewMemoryRequest): Promise<MemoryRequest | Failure> {
    return this.#inTurn(() => fileRequest(this.#parts, request));
  }

  async list(filter: MemoryList): Promise<readonly MemoryEntry[]> {
    const { limit = PAGE, ...rest } = filter;
    const rows = await this.#parts.store.list({ ...rest, limit: Math.min(limit, PAGE_MAX) });
    return rows.flatMap((row) => this.#genuine(row) ?? []);
  }

  confirm(id: string): Promise<MemoryEntry | Failure> {
    return this.#inTurn(async () => {
      const [row] = await this.#parts.store.byIds([id]);
      const isThere = row !== undefined && this.#parts.seals.isEntryGenuine(row);
      if (!isThere) return memoryRefusal(`There is no memory ${id}.`);
      return this.#entry(await this.#confirmed(row));
    });
  }

  async review() {
    const rows = await this.#parts.store.list({
      states: ['review', 'quarantined'],
      limit: REVIEW_MAX,
    });
    const requests = await this.#parts.store.requests();
    return {
      entries: rows.flatMap((row) => this.#genuine(row) ?? []),
      requests: requests.flatMap((row) => readRequest(row) ?? []),
    };
  }

  async decideRequest(id: string, verdict: 'accept' | 'reject'): Promise<Failure | undefined> {
    const { store } = this.#parts;
    const row = (await store.requests()).find((one) => one.id === id);
    const body = row === undefined ? undefined : requestBody(row.body);
    if (body === undefined) return memoryRefusal('There is no such request.');
    if (verdict === 'accept') {
      const done =
        body.kind === 'core'
          ? await this.setCore(body.key, body.value)
          : await this.forget({ containing: body.containing });
      if (isFailure(done)) return done;
    }
    await store.removeRequests([id]);
    return undefined;
  }

  forget(target: ForgetTarget): Promise<ForgetReport | Failure> {
    return this.#inTurn(async () => {
      const { store } = this.#parts;
      if ('containing' in target && target.containing.trim().length < FORGET_UNITS_MIN)
        return memoryRefusal(
          `Name at least ${FORGET_UNITS_MIN} characters of what is to be forgotten.`,
        );
      const rows = 'ids' in target ? await store.byIds(target.ids) : await this.#holding(target);
      const holds = 'ids' in target ? () => false : containing(target.containing);
      const facts = (await store.core()).filter(({ key, value }) => holds(`${key}\n${value}`));
      const requests = (await store.requests()).filter(({ body, reason }) =>
        holds(`${body}\n${reason}`),
      );
      const factHashes = facts.map((row) => this.#parts.seals.hashText(coreForgetText(row)));
      // First, so that a crash in between forgets when the memory is opened again.
      this.#parts.forgotten.add([...rows.map(({ hash }) => hash), ...factHashes]);
      await this.#remove(rows);
      await store.removeCore(facts.map(({ key }) => key));
      await store.removeRequests(requests.map(({ id }) => id));
      await store.scrub();
      const texts = 'ids' in target ? rows.map(({ text }) => text) : [target.containing];
      const elsewhere = this.#parts.alsoForget?.(texts) ?? { changed: 0, left: 0 };
      return {
        entries: rows.length,
        coreFacts: facts.length,
        requests: requests.length,
        elsewhere,
      };
    });
  }

  async #holding(target: { readonly containing: string }): Promise<readonly MemoryRow[]> {
    const holds = containing(target.containing);
    const found: MemoryRow[] = [];
    for await (const row of allRows(this.#parts.store)) {
      if (holds(`${row.text}\n${row.source}`)) found.push(row);
    }
    return found;
  }

  audit(signal?: AbortSignal): Promise<AuditReport> {
    const { store, seals, nowMs } = this.#parts;
    const replace = (row: MemoryRow, changes: Partial<MemoryRow>) =>
      this.#inTurn(() => this.#replace(row, changes));
    return auditMemory({ store, seals, nowMs, replace }, signal);
  }

  /** Only what still stands there as it was judged. */
  async #replace(row: MemoryRow, changes: Partial<MemoryRow>): Promise<void> {
    const { store, seals } = this.#parts;
    const [current] = await store.byIds([row.id]);
    if (current?.seal !== row.seal || current.text !== row.text) return;
    const hash = seals.hashText(row.text);
    const twin = await store.byHash(hash);
    if (twin !== undefined && twin.id !== row.id) {
      await this.#remove([row]);
      return;
    }
    await this.#change(row, { ...changes, hash });
  }

  async status(): Promise<MemoryStatus> {
    const { store, embeddings } = this.#parts;
    const entries = { active: 0, review: 0, quarantined: 0 };
    for (const { state, count } of await store.count()) {
      if (state === 'active' || state === 'review' || state === 'quarantined')
        entries[state] += count;
    }
    return {
      engine: store.engine,
      entries,
      coreFacts: (await this.core()).length,
      requests: (await store.requests()).length,
      vectors: await embeddings.status(),
    };
  }

  embedded(): Promise<void> {
    return this.#parts.embeddings.settled();
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    await this.#parts.embeddings.close();
    await this.#parts.store.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastWrite.then(work);
    this.#lastWrite = done.catch(() => undefined);
    return done;
  }

  #confirmed(row: MemoryRow): Promise<MemoryRow> {
    return this.#change(row, {
      state: 'active',
      reasons: '[]',
      confirmedMs: this.#parts.nowMs(),
    });
  }

  async #change(row: MemoryRow, changes: Partial<MemoryRow>): Promise<MemoryRow> {
    const changed = this.#parts.seals.sealEntry({ ...row, ...changes });
    await this.#parts.store.put(changed);
    if (row.state !== 'active' && changed.state === 'active')
      this.#parts.embeddings.add(changed.id);
    return changed;
  }

  async #remove(rows: readonly MemoryRow[]): Promise<void> {
    await this.#parts.store.remove(rows.map(({ id }) => id));
    for (const { provenance } of rows) this.#count(provenance, -1);
  }

  #count(provenance: string, more: number): void {
    this.#counts.set(provenance, Math.max(0, (this.#counts.get(provenance) ?? 0) + more));
  }

  #genuine(row: MemoryRow): MemoryEntry | undefined {
    return this.#parts.seals.isEntryGenuine(row) ? entryOf(row, this.#parts.nowMs()) : undefined;
  }

  #entry(row: MemoryRow): MemoryEntry {
    const entry = entryOf(row, this.#parts.nowMs());
    if (entry === undefined) throw new TypeError('A row that we wrote is no memory.');
    return entry;
  }
}

function marked(entry: MemoryEntry): string {
  const { text, source, provenance } = entry;
  if (!isFromOutside(provenance)) return neutral(text);
  const { tool, sender } = source;
  return externalContent(text, {
    source: 'memory',
    ...(tool === undefined ? {} : { tool }),
    ...(sender === undefined ? {} : { sender }),
  });
}
