// A pin: the hash of everything that a server says about one thing, so that no change goes unseen.
import type { JsonValue } from '@subluminal/contracts';
import { canonicalize } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import { isBounded } from '../names/bounded.ts';

export interface Pin {
  readonly hash: string;
  /** What was pinned, to show what changed; absent when it is too long, or has too long numbers. */
  readonly definition?: JsonValue;
  readonly seenAtMs: number;
  /** When a person accepted a change; null while the first sight holds. */
  readonly acceptedAtMs: number | null;
}

export interface ServerPins {
  /** Null is what a server without instructions has. */
  readonly instructions: Pin | undefined;
  readonly tools: ReadonlyMap<string, Pin>;
}

export interface PinStore {
  readonly servers: ReadonlyMap<string, ServerPins>;
}

export type Pinned =
  | { readonly ok: true; readonly hash: string; readonly canonical: string }
  | { readonly ok: false };

export const EMPTY_PINS: PinStore = { servers: new Map() };
const BOUNDS = { depthMax: 128, valuesMax: 100_000 };
const KEPT_LENGTH_MAX = 65_536;

/**
 * The hash over a whole definition, or over instructions; not ok when it is too large or too deep.
 * `text` is the JSON that the definition was parsed from: digits that a double cannot hold count too.
 */
export function pinOf(definition: unknown, sha256: Sha256, text?: string): Pinned {
  if (!isBounded(definition, BOUNDS)) return { ok: false };
  const written = canonicalize(text ?? JSON.stringify(definition ?? null));
  if (!written.ok) return { ok: false };
  return { ok: true, hash: sha256(written.canonical), canonical: written.canonical };
}

/** A fresh pin of what was just seen. */
export function newPin(
  { hash, canonical }: Extract<Pinned, { ok: true }>,
  times: Pick<Pin, 'seenAtMs' | 'acceptedAtMs'>,
): Pin {
  if (canonical.length > KEPT_LENGTH_MAX) return { hash, ...times };
  const definition: unknown = JSON.parse(canonical);
  const again = canonicalize(JSON.stringify(definition));
  // What would lose digits in the file is known by its hash alone.
  const isExact = isJson(definition) && again.ok && again.canonical === canonical;
  return isExact ? { hash, definition, ...times } : { hash, ...times };
}

/** What JSON.parse makes is JSON; undefined is all that it never makes. */
export function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}
