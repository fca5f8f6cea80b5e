// What can stand where somebody types: keys, the words of a key, and names that the ledger knows.
import {
  CALL_SEARCH_KEYS,
  type CallSearchKey,
  exactName,
  searchTermText,
} from '@subluminal/contracts';

export interface Completion {
  readonly insert: string;
  readonly label: string;
  readonly description: string;
}

export interface Completions {
  /** What they replace. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Completion[];
}

export type KnownNames = { readonly [key in CallSearchKey]?: readonly string[] };

const ITEMS_MAX = 12;
/** Their filters read globs. */
const GLOB_KEYS: ReadonlySet<string> = new Set(['tool', 'server', 'principal', 'approved-by']);
const WORD_AT_END = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)*$/;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The keys of the object itself.
const KEYS = Object.keys(CALL_SEARCH_KEYS) as readonly CallSearchKey[];

export function completionsAt(text: string, caret: number, known: KnownNames): Completions {
  const [word = ''] = WORD_AT_END.exec(text.slice(0, caret)) ?? [];
  const place = { from: caret - word.length, to: caret };
  const [, name = '', value = ''] = /^([a-z-]+):(.*)$/is.exec(word) ?? [];
  const key = KEYS.find((one) => one === name.toLowerCase());
  if (key !== undefined) return { ...place, items: valuesOf(key, value, known) };
  const typed = word.toLowerCase();
  const items = KEYS.filter((one) => one.startsWith(typed)).map((one) => ({
    insert: `${one}:`,
    label: `${one}:`,
    description: CALL_SEARCH_KEYS[one].description,
  }));
  return { ...place, items: name === '' ? items : [] };
}

function valuesOf(key: CallSearchKey, typed: string, known: KnownNames): readonly Completion[] {
  const entry = CALL_SEARCH_KEYS[key];
  const wanted = typed.replaceAll('"', '').toLowerCase();
  const words = ('words' in entry ? entry.words : []).map(({ word, description }) => ({
    insert: `${key}:${word} `,
    label: word,
    description,
  }));
  const names = (known[key] ?? []).map((name) => ({
    insert: `${searchTermText(key, GLOB_KEYS.has(key) ? exactName(name) : name)} `,
    label: name,
    description: '',
  }));
  const rank = ({ label }: Completion) => (label.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...words, ...names]
    .filter(({ label }) => label.toLowerCase().includes(wanted))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, ITEMS_MAX);
}

/** The text with one of them in its place, and where the caret then is. */
export function completed(
  text: string,
  { from, to }: Completions,
  { insert }: Completion,
): { readonly text: string; readonly caret: number } {
  const rest = insert.endsWith(' ') ? text.slice(to).trimStart() : text.slice(to);
  return { text: text.slice(0, from) + insert + rest, caret: from + insert.length };
}
