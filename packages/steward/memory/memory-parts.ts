// What the memory is made of, and the bounds of what it keeps.

import { type Failure, tableFailure } from '@subluminal/contracts';
import type { Redactor } from '@subluminal/core/scan';
import type { PendingEmbeddings } from './embed-pending.ts';
import type { ForgottenTexts } from './forgotten-texts.ts';
import type { RowSeals } from './sealed-rows.ts';
import type { MemoryStore } from './store/types.ts';
import type { ForgottenElsewhere, MemorySource, Provenance } from './types.ts';

export interface MemoryParts {
  readonly store: MemoryStore;
  readonly seals: RowSeals;
  readonly forgotten: ForgottenTexts;
  readonly embeddings: PendingEmbeddings;
  readonly redactor: Redactor;
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** How many entries of each provenance there may be. */
  readonly entriesMax: { readonly [provenance in Provenance]: number };
  /** Takes what is forgotten out of what else Steward keeps. */
  readonly alsoForget?: ((texts: readonly string[]) => ForgottenElsewhere) | undefined;
}

export const TEXT_UNITS_MAX = 4_000;
export const REASON_UNITS_MAX = 500;
export const SOURCE_UNITS_MAX = 200;

/** Letters compare as people read them, which databases do in their own ways. */
export function containing(text: string): (other: string) => boolean {
  const plain = (one: string) => one.normalize('NFKC').toLowerCase();
  const wanted = plain(text.trim());
  return (other) => plain(other).includes(wanted);
}

export function shortSource(source: MemorySource): MemorySource {
  const pairs = Object.entries(source).map(([name, value]: [string, string]) => {
    return [name, value.slice(0, SOURCE_UNITS_MAX)] as const;
  });
  return Object.fromEntries(pairs);
}

export function textProblem(text: string): Failure | undefined {
  if (text.trim() === '') return memoryRefusal('There is no text.');
  if (text.length <= TEXT_UNITS_MAX) return undefined;
  return memoryRefusal(
    `A memory has at most ${TEXT_UNITS_MAX} characters, this has ${text.length}.`,
  );
}

export function memoryRefusal(message: string): Failure {
  return tableFailure('SUB_STEWARD_MEMORY', message);
}
