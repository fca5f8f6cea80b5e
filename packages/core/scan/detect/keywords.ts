// The keywords of all secrets and phrases in one table, so that one pass over a text finds both.
import { FORMATS } from '../formats/index.ts';
import { type Keyword, type KeywordTable, keywordTable } from '../text/keyword-table.ts';
import type { Phrase } from './phrase.ts';
import { CARRIED_OUT } from './phrases-exfiltration.ts';
import { MARKUP } from './phrases-hidden.ts';
import { LABELLED } from './phrases-labels.ts';
import { OVERRIDE } from './phrases-override.ts';
import { SPEECH } from './phrases-speech.ts';

/** Orders and hidden markup support each other; labels, which are last, stand alone. */
export const PHRASES: readonly Phrase[] = [
  ...OVERRIDE,
  ...SPEECH,
  ...CARRIED_OUT,
  ...MARKUP,
  ...LABELLED,
];
export const LABELS_FROM = PHRASES.length - LABELLED.length;

/** The keywords of one family that end in a state of the table, by the index of their rule. */
export type KeywordsByState = ReadonlyMap<number, readonly Keyword[]>;
/** Those of a state in which only keywords of the other family end. */
export const NO_KEYWORDS: readonly Keyword[] = [];

interface ScanKeywords extends Pick<KeywordTable, 'classes' | 'next'> {
  readonly formats: KeywordsByState;
  readonly phrases: KeywordsByState;
}

let known: ScanKeywords | undefined;

/** Built when the first text comes: a start-up should not wait for it. */
export function scanKeywords(): ScanKeywords {
  known ??= builtKeywords();
  return known;
}

function builtKeywords(): ScanKeywords {
  const all = PHRASES.map(({ id, keywords }) => ({ name: id, keywords, anyCase: true }));
  const { classes, next, ending } = keywordTable([...FORMATS, ...all]);
  const formats = new Map<number, Keyword[]>();
  const phrases = new Map<number, Keyword[]>();
  for (const [state, keywords] of ending) {
    for (const { rule, text, anyCase, edge } of keywords) {
      const isFormat = rule < FORMATS.length;
      const keyword = { rule: isFormat ? rule : rule - FORMATS.length, text, anyCase, edge };
      const family = isFormat ? formats : phrases;
      const own = family.get(state);
      if (own === undefined) family.set(state, [keyword]);
      else own.push(keyword);
    }
  }
  return { classes, next, formats, phrases };
}
