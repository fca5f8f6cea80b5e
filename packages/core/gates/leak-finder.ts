// Finds the secrets that were injected into a server, raw, encoded or in pieces, and nothing else.

import { INJECTED, type RefusedValue, valueRules } from '../scan/injected/values.ts';
import { merged, onEscapes, type RedactedRange } from '../scan/redact/findings.ts';
import { createPrefilter, type Prefilter } from '../scan/text/keyword-search.ts';
import type { Range, SecretValue } from '../scan/types.ts';
import { visible } from '../text/visible.ts';

export interface LeakFinder {
  /** Whether a text shows any of the values. */
  has(text: string): boolean;
  /** The text with a marker in the place of each. */
  redact(text: string): string;
  /** The names of the values that any of these texts show; for notes about a leak. */
  namesIn(texts: readonly string[]): readonly string[];
  /** Whether a value, or a part that is looked for, could stand in a number. */
  readonly hasDigits: boolean;
  /** Values that cannot be looked for. */
  readonly refused: readonly RefusedValue[];
}

type Find = (text: string, isEnough: boolean) => readonly RedactedRange[];

const MARKER = `[REDACTED:${INJECTED}]`;
const FINDINGS_MAX = 100_000;
const ROUNDS_MAX = 4;
const NAME_MAX = 100;
const WHOLE_NUMBER = /^\s*[\d.eE+-]+\s*$/;
/** The shortest part that is looked for is half of sixteen. */
const NUMBER_INSIDE = /[\d.eE+-]{8}/;

/** Undefined when there are no values to search for. */
export function createLeakFinder(values: readonly SecretValue[]): LeakFinder | undefined {
  const { find, refused } = findOf(values);
  if (find === undefined) return undefined;
  // A leak is rare: which value it shows is searched only then, one value at a time.
  const each = new Map<SecretValue, Find | undefined>();
  const shows = (value: SecretValue, text: string) => {
    if (!each.has(value)) each.set(value, findOf([value]).find);
    return (each.get(value)?.(text, true).length ?? 0) > 0;
  };
  return {
    refused,
    hasDigits: values.some(({ value }) => WHOLE_NUMBER.test(value) || NUMBER_INSIDE.test(value)),
    has: (text) => find(text, true).length > 0,
    redact: (text) => redacted(text, find),
    namesIn: (texts) => {
      const shown = values.filter((value) => texts.some((text) => shows(value, text)));
      return [...new Set(shown.map(({ name }) => visible(name, NAME_MAX)))];
    },
  };
}

/** Finders of lists that several sessions know: their tables take long to build. */
const SHARED = new WeakMap<readonly SecretValue[], LeakFinder | undefined>();

function sharedFinder(values: readonly SecretValue[]): LeakFinder | undefined {
  if (!SHARED.has(values)) SHARED.set(values, createLeakFinder(values));
  return SHARED.get(values);
}

/** A finder for fixed values and for those of a list that is replaced by another one when it grows. */
export function growingLeakFinder(
  fixed: readonly SecretValue[],
  learned: () => readonly SecretValue[],
): LeakFinder {
  let known: readonly SecretValue[] | undefined;
  let finder: LeakFinder | undefined;
  const current = (): LeakFinder | undefined => {
    const values = learned();
    if (values !== known) {
      known = values;
      finder = fixed.length === 0 ? sharedFinder(values) : createLeakFinder([...fixed, ...values]);
    }
    return finder;
  };
  return {
    get refused() {
      return current()?.refused ?? [];
    },
    get hasDigits() {
      return current()?.hasDigits ?? false;
    },
    has: (text) => current()?.has(text) ?? false,
    redact: (text) => current()?.redact(text) ?? text,
    namesIn: (texts) => current()?.namesIn(texts) ?? [],
  };
}

function findOf(values: readonly SecretValue[]): {
  readonly find: Find | undefined;
  readonly refused: readonly RefusedValue[];
} {
  const { rules, search, refused } = valueRules(values);
  if (search === undefined) return { find: undefined, refused };
  let prefilter: Prefilter | undefined;
  const find: Find = (text, isEnough) => {
    const findings: RedactedRange[] = [];
    const add = ({ start, end }: Range) => {
      if (findings.length < FINDINGS_MAX) findings.push({ start, end, rule: INJECTED, rank: 0 });
    };
    const readTo = new Int32Array(rules.length);
    const onHit = (index: number, at: number) => {
      if (at < (readTo[index] ?? 0)) return;
      const match = rules[index]?.match({ text, at, truncated: false });
      readTo[index] = match?.readTo ?? 0;
      if (match !== undefined) add(match);
    };
    const task = { text, truncated: false };
    prefilter ??= createPrefilter(rules);
    const hiding = prefilter.scanBoth(text, onHit, search.probe(task, add));
    if (isEnough && findings.length > 0) return findings;
    search.findHidden(task, hiding, add);
    return findings;
  };
  return { find, refused };
}

function redacted(text: string, find: Find): string {
  let clean = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const findings = find(clean, false);
    if (findings.length === 0) break;
    const whole = findings.map((finding) => ({ ...finding, ...onEscapes(clean, finding) }));
    let out = '';
    let done = 0;
    for (const { start, end } of merged(whole, [])) {
      out += clean.slice(done, start) + MARKER;
      done = end;
    }
    clean = out + clean.slice(done);
  }
  return clean;
}
