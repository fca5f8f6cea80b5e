// Takes secrets out of what is shown or stored: injected values, known formats, the user's patterns.
import { FORMATS } from '../formats/index.ts';
import { INJECTED, type RefusedValue, type ValueSearch, valueRules } from '../injected/values.ts';
import { askRules, createPrefilter, type Prefilter } from '../text/keyword-search.ts';
import type { ExtraPattern, Range, Rule, Scanned, SecretValue } from '../types.ts';
import { merged, onEscapes, quoteNumbers, type RedactedRange } from './findings.ts';
import type { CleanCheck } from './gate.ts';
import { lazyGate } from './gate.ts';

export interface RedactorConfig {
  readonly values?: readonly SecretValue[];
  readonly extra?: readonly ExtraPattern[];
}

export interface RedactOptions {
  /** The text was cut: what begins like a secret at its end goes too. */
  readonly truncated?: boolean;
}

export interface Redacted {
  readonly text: string;
  /** The names of the rules that found something, each once. */
  readonly found: readonly string[];
}

export interface Redactor {
  readonly redact: (text: string, options?: RedactOptions) => Redacted;
  /** The same as a plain function. */
  readonly plain: (text: string, options?: RedactOptions) => string;
  /** True when the text that these bytes of UTF-8 are would stay as it is; false says nothing. */
  readonly isClean: CleanCheck;
  /** Values that are not looked for. */
  readonly refused: readonly RefusedValue[];
}

interface Rules {
  readonly search: ValueSearch | undefined;
  readonly all: readonly Rule[];
  readonly extra: readonly ExtraPattern[];
  readonly names: ReadonlySet<string>;
  readonly prefilter: () => Prefilter;
}

const MARK = '[REDACTED:';
const NAME_LENGTH_MAX = 64;
/** A secret can come to light only when its neighbour is gone; that ends after few rounds. */
const ROUNDS_MAX = 4;
const FINDINGS_MAX = 1_000_000;

/** A marker's name must not be able to carry anything else. */
function markerName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_LENGTH_MAX);
  return plain.replace(/^-|-$/g, '') || 'pattern';
}

/** The tables of the formats alone are large and never change: all redactors without other rules share them. */
const formatGate = lazyGate(FORMATS);
const formatPrefilter = lazyPrefilter(FORMATS);

/** Built when the first text comes: a start-up should not wait for it. */
function lazyPrefilter(rules: readonly Rule[]): () => Prefilter {
  let prefilter: Prefilter | undefined;
  return () => (prefilter ??= createPrefilter(rules));
}

export function createRedactor({ values = [], extra = [] }: RedactorConfig): Redactor {
  const { rules: known, refused, search } = valueRules(values);
  const own = extra.map(({ name, find }) => ({ name: markerName(name), find }));
  const all = known.length === 0 ? FORMATS : [...known, ...FORMATS];
  const rules: Rules = {
    search,
    all,
    extra: own,
    names: new Set([INJECTED, ...all.map(({ name }) => name), ...own.map(({ name }) => name)]),
    prefilter: all === FORMATS ? formatPrefilter : lazyPrefilter(all),
  };
  const redact = (text: string, { truncated = false }: RedactOptions = {}) =>
    redactAll(rules, { text, truncated });
  const isClean = search === undefined && own.length === 0 ? formatGate : () => false;
  return { redact, plain: (text, options) => redact(text, options).text, isClean, refused };
}

function redactAll(rules: Rules, { text, truncated }: Scanned): Redacted {
  const found = new Set<string>();
  let clean = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const findings = findingsIn(rules, { text: clean, truncated });
    if (findings.length === 0) break;
    for (const { rule } of findings) found.add(rule);
    clean = replaced(clean, findings);
  }
  return { text: clean, found: [...found] };
}

function findingsIn(rules: Rules, task: Scanned): readonly RedactedRange[] {
  const findings = ruleFindings(rules, task);
  for (const { name, find } of rules.extra) {
    for (const range of find(task.text)) {
      if (findings.length >= FINDINGS_MAX) break;
      if (isRange(range, task.text)) {
        const { start, end } = range;
        findings.push({ start, end, rule: name, rank: rules.all.length - 1.5 });
      }
    }
  }
  if (findings.length === 0) return findings;
  const wide = findings.map((finding) => ({ ...finding, ...onEscapes(task.text, finding) }));
  return quoteNumbers(task.text, merged(wide, markersIn(task.text, rules.names)));
}

function isRange({ start, end }: Range, text: string): boolean {
  const isWhole = Number.isInteger(start) && Number.isInteger(end);
  return isWhole && 0 <= start && start < end && end <= text.length;
}

function ruleFindings(rules: Rules, task: Scanned): RedactedRange[] {
  const { all, search, prefilter } = rules;
  const { text } = task;
  const findings: RedactedRange[] = [];
  const onHit = askRules(all, task, (index, match) => {
    if (match === undefined) return;
    const { readTo: _read, ...found } = match;
    findings.push({ ...found, rule: all[index]?.name ?? '', rank: index });
  });
  if (search === undefined) {
    prefilter().scan(text, onHit);
    return findings;
  }
  const onValue = (range: Range) => {
    const { start, end } = range;
    if (findings.length < FINDINGS_MAX) findings.push({ start, end, rule: INJECTED, rank: 0 });
  };
  const hiding = prefilter().scanBoth(text, onHit, search.probe(task, onValue));
  search.findHidden(task, hiding, onValue);
  search.findCut(task, onValue);
  return findings;
}

/** Markers of an earlier pass; names that are not ours don't count, they could hide a secret. */
function markersIn(text: string, names: ReadonlySet<string>): Range[] {
  const markers: Range[] = [];
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    const from = at + MARK.length;
    const end = text.slice(from, from + NAME_LENGTH_MAX + 1).indexOf(']');
    if (end < 0 || !names.has(text.slice(from, from + end))) continue;
    markers.push({ start: at, end: from + end + 1 });
  }
  return markers;
}

function replaced(text: string, findings: readonly RedactedRange[]): string {
  let out = '';
  let done = 0;
  for (const { start, end, rule, quote = '' } of findings) {
    out += `${text.slice(done, start)}${quote}${MARK}${rule}]${quote}`;
    done = end;
  }
  return out + text.slice(done);
}
