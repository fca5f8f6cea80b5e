// Secrets that are planted, and the search for them: in every spelling, in every file and output.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bearing } from '../contract/proc.ts';

/** Where something was found: a file, an output, a command line. */
export interface Place {
  readonly name: string;
  readonly bytes: string;
}

const WINDOW = 12;
const STEP = 4;

/** A secret as it may be written, whole. */
export function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const hex = Buffer.from(secret).toString('hex');
  const encoded = ['', 'x', 'xy'].flatMap((before) => {
    const bytes = Buffer.from(before + secret);
    // The first and the last digits also depend on what stands beside it.
    return [bytes.toString('base64'), bytes.toString('base64url')].map((text) =>
      text.slice(before.length === 0 ? 0 : 4, -4),
    );
  });
  return [
    secret,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    percent,
    encodeURIComponent(percent),
    hex,
    hex.toUpperCase(),
    [...secret].toReversed().join(''),
    secret.toLowerCase(),
    secret.toUpperCase(),
    ...encoded,
  ];
}

/** Pieces of all its forms: half a secret is found as well. */
function piecesOf(secret: string): readonly string[] {
  const pieces = formsOf(secret).flatMap((form) => {
    const count = Math.floor((form.length - WINDOW) / STEP) + 1;
    return Array.from({ length: count }, (_, at) => form.slice(at * STEP, at * STEP + WINDOW));
  });
  return [...new Set(pieces)];
}

/** Every file below a folder, whatever it is. */
export function filesBelow(folder: string, isLeftOut: (path: string) => boolean): readonly Place[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  return entries.flatMap((entry) => {
    const name = join(entry.parentPath, entry.name);
    if (!entry.isFile() || isLeftOut(name)) return [];
    return [{ name, bytes: readFileSync(name, 'latin1') }];
  });
}

/** The command lines of all processes that bear one of these words. */
export function commandLines(words: readonly string[]): readonly Place[] {
  return bearing(words).flatMap((pid) => {
    try {
      return [
        { name: `/proc/${pid}/cmdline`, bytes: readFileSync(`/proc/${pid}/cmdline`, 'latin1') },
      ];
    } catch {
      // Gone in the meantime.
      return [];
    }
  });
}

/** The names of the places that hold any piece of the secret. */
export function foundIn(places: readonly Place[], secret: string): readonly string[] {
  const pieces = piecesOf(secret);
  const holding = places.filter(({ bytes, name }) =>
    pieces.some((piece) => bytes.includes(piece) || name.includes(piece)),
  );
  return holding.map(({ name }) => name);
}
