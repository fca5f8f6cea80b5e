// Rows as they stand in the database, signed with the key of the home: somebody who can write to the database can
// neither plant a memory nor raise its trust.
import { isFailure, isObject, ThrownFailure } from '@subluminal/contracts';
import { type HomeSeal, sha256 } from '@subluminal/plane/crypto';
import { parseJson } from '@subluminal/plane/os';
import type { CoreRow, MemoryRow } from './store/types.ts';
import { freshnessOf, isProvenance, trustOf } from './trust.ts';
import type { MemoryEntry, MemorySource, MemoryState } from './types.ts';

type Unsealed<T> = Omit<T, 'seal'>;

const STATES: readonly string[] = ['active', 'review', 'quarantined'] satisfies MemoryState[];

const KNOWN_MAX = 4_096;

export interface RowSeals {
  sealEntry(row: Unsealed<MemoryRow>): MemoryRow;
  sealCore(row: Unsealed<CoreRow>): CoreRow;
  isEntryGenuine(row: MemoryRow): boolean;
  isCoreGenuine(row: CoreRow): boolean;
  /** The same for the same text, and nothing that somebody without the key could guess the text by. */
  hashText(text: string): string;
}

export function rowSeals(seal: HomeSeal): RowSeals {
  // Core facts stand in every prompt.
  const known = new Set<string>();
  const sign = (text: string): string => {
    const signed = seal.sign(text);
    if (isFailure(signed)) throw new ThrownFailure(signed);
    return `${signed.keyId}:${signed.value}`;
  };
  const holds = (text: string, signature: string): boolean => {
    const digest = sha256(`${signature}\n${text}`);
    if (known.has(digest)) return true;
    const at = signature.indexOf(':');
    const checked = seal.check(text, {
      keyId: signature.slice(0, at),
      value: signature.slice(at + 1),
    });
    if (isFailure(checked)) throw new ThrownFailure(checked);
    if (known.size >= KNOWN_MAX) known.clear();
    if (checked) known.add(digest);
    return checked;
  };
  return {
    sealEntry: (row) => ({ ...row, seal: sign(entryText(row)) }),
    sealCore: (row) => ({ ...row, seal: sign(coreText(row)) }),
    isEntryGenuine: (row) => holds(entryText(row), row.seal),
    isCoreGenuine: (row) => holds(coreText(row), row.seal),
    // A signature of ed25519 is the same each time, and only the key makes it.
    hashText: (text) => sha256(sign(`subluminal.memory.text.v1\n${sameText(text)}`)),
  };
}

/** When it was last used is not signed: it changes with each search, and nothing follows from it. */
function entryText(row: Unsealed<MemoryRow>): string {
  const { id, text, provenance, source, conversation, state, reasons, tags, hash } = row;
  const { createdMs, confirmedMs } = row;
  const said = [id, text, provenance, source, conversation, state, reasons, tags];
  return `subluminal.memory.entry.v1\n${JSON.stringify([...said, createdMs, confirmedMs, hash])}`;
}

function coreText({ key, value, setMs }: Unsealed<CoreRow>): string {
  return `subluminal.memory.core.v1\n${JSON.stringify([key, value, setMs])}`;
}

/** Case, spacing and forms of letters make no other text. */
function sameText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** A genuine row as an entry; nothing for one with values that this version does not know. */
export function entryOf(row: MemoryRow, nowMs: number): MemoryEntry | undefined {
  const { provenance, state } = row;
  if (!isProvenance(provenance) || !isState(state)) return undefined;
  const { id, text, conversation, createdMs, confirmedMs, lastUsedMs } = row;
  const facts = { provenance, createdMs, confirmedMs };
  return {
    id,
    text,
    ...facts,
    source: sourceOf(row.source),
    conversation,
    state,
    reasons: textsOf(row.reasons),
    tags: textsOf(row.tags),
    lastUsedMs,
    trust: trustOf(facts),
    freshness: freshnessOf(facts, nowMs),
  };
}

function isState(text: string): text is MemoryState {
  return STATES.includes(text);
}

function sourceOf(json: string): MemorySource {
  const value = parseJson(json);
  if (!isObject(value)) return {};
  const names = ['server', 'tool', 'callId', 'sender'] as const;
  const known = names.flatMap((name) => {
    const text = value[name];
    return typeof text === 'string' ? [[name, text] as const] : [];
  });
  return Object.fromEntries(known);
}

function textsOf(json: string): readonly string[] {
  const value = parseJson(json);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
