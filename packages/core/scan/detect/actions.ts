// What a policy does about findings: the strongest action wins, and what must not travel is replaced.

import { createPrefilter } from '../text/keyword-search.ts';
import type { Range } from '../types.ts';
import { itemPath, memberPath, OF_KEY, ROOT_PATH } from './json-place.ts';
import { plainNumber } from './scan-json.ts';
import type { Confidence, ContentFinding, FindingClass, ScanVerdict } from './types.ts';

export type Action = 'allow' | 'tag' | 'redact' | 'ask' | 'block';
export type Direction = 'outbound' | 'inbound';

export interface Actions {
  readonly outbound: Readonly<Record<FindingClass, Action>>;
  readonly inbound: Readonly<Record<FindingClass, Action>>;
  /** What is less sure than this is tagged and nothing more. */
  readonly confidenceMin: Confidence;
  /** What is less sure than this is not blocked: `ask` outbound, `redact` inbound. */
  readonly blockConfidence: Confidence;
  /** For what could not be looked at; files without text don't count. */
  readonly unscanned: Action;
}

export interface Treatment {
  readonly direction: Direction;
  readonly actions: Actions;
  /** What stands in the place of a finding; `[redacted:RULE]` unless given. */
  readonly mark?: MarkFinding;
}

export type MarkFinding = (finding: ContentFinding, value: string) => string;

export interface Treated<T> {
  readonly action: Action;
  /**
   * What may travel: every finding that is to be redacted, asked about or blocked is replaced by a
   * marker. Who asks a person and gets a yes sends the original.
   */
  readonly value: T;
  /**
   * `class:rule` of what was found, and `unscanned:reason`, each once. Behind one for which less is
   * done than `action` says stands what is: `hidden_text:zero-width (tag)`.
   */
  readonly tags: readonly string[];
}

interface Mark extends Range {
  readonly finding: ContentFinding;
}

const STRENGTH: readonly Action[] = ['allow', 'tag', 'redact', 'ask', 'block'];
const CONFIDENCE: readonly Confidence[] = ['hint', 'likely', 'certain'];
const DEPTH_MAX = 512;

const stronger = (left: Action, right: Action): Action =>
  STRENGTH.indexOf(left) >= STRENGTH.indexOf(right) ? left : right;

/** What is done about one finding. */
export function actionFor(
  { class: name, confidence }: ContentFinding,
  { direction, actions }: Treatment,
): Action {
  const action = actions[direction][name];
  const isAtLeast = (least: Confidence) =>
    CONFIDENCE.indexOf(confidence) >= CONFIDENCE.indexOf(least);
  if (action !== 'allow' && !isAtLeast(actions.confidenceMin)) return 'tag';
  if (action !== 'block' || isAtLeast(actions.blockConfidence)) return action;
  return direction === 'outbound' ? 'ask' : 'redact';
}

/** The verdict of `scanText` goes with a text, that of `scanJson` with the value it was made from. */
export function applyActions(
  value: string,
  verdict: ScanVerdict,
  treatment: Treatment,
): Treated<string>;
export function applyActions(
  value: unknown,
  verdict: ScanVerdict,
  treatment: Treatment,
): Treated<unknown>;
export function applyActions(
  value: unknown,
  verdict: ScanVerdict,
  treatment: Treatment,
): Treated<unknown> {
  if (verdict.findings.length === 0 && verdict.unscanned.length === 0) {
    return { action: 'allow', value, tags: [] };
  }
  const found = new Map<string, Action>();
  const marks = new Map<string, Mark[]>();
  let action: Action = 'allow';
  for (const finding of verdict.findings) {
    const own = actionFor(finding, treatment);
    action = stronger(action, own);
    if (own !== 'allow') addFound(found, `${finding.class}:${finding.rule}`, own);
    if (STRENGTH.indexOf(own) >= STRENGTH.indexOf('redact')) addMark(marks, finding);
  }
  for (const { reason } of verdict.unscanned) {
    const own = reason === 'binary' ? 'allow' : treatment.actions.unscanned;
    addFound(found, `unscanned:${reason}`, stronger(own, 'tag'));
    action = stronger(action, own);
  }
  const { mark = plainMark } = treatment;
  const treated = marks.size === 0 ? value : redacted(value, marks, { verdict, mark });
  return { action, value: treated, tags: tagsOf(found, action) };
}

/** The text without its findings, and without further copies of the secrets among them; hints stay. */
export function redactFindings(text: string, findings: readonly ContentFinding[]): string {
  const sure = findings.filter(({ confidence }) => confidence !== 'hint');
  const marks = sure.map((finding) => ({ start: finding.start, end: finding.end, finding }));
  const secrets = sure.filter(({ class: name }) => name === 'secret');
  return replacedIn(text, [...marks, ...copyFinder(text, secrets)(text)], plainMark);
}

function addFound(found: Map<string, Action>, tag: string, action: Action): void {
  found.set(tag, stronger(found.get(tag) ?? action, action));
}

/** Those that the action is about first. */
function tagsOf(found: ReadonlyMap<string, Action>, action: Action): readonly string[] {
  const tags = [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const isWeaker = ([, own]: readonly [string, Action]) => stronger(own, action) !== own;
  const strongest = tags.filter((tag) => !isWeaker(tag)).map(([tag]) => tag);
  return [...strongest, ...tags.filter(isWeaker).map(([tag, own]) => `${tag} (${own})`)];
}

/** Findings in plain text have no path; a value that is only a string has the root's. */
function addMark(marks: Map<string, Mark[]>, finding: ContentFinding): void {
  const { path, start, end } = finding;
  const own = marks.get(path ?? ROOT_PATH) ?? [];
  marks.set(path ?? ROOT_PATH, [...own, { start, end, finding }]);
}

function plainMark({ rule }: ContentFinding): string {
  return `[redacted:${rule}]`;
}

interface Redaction {
  readonly verdict: ScanVerdict;
  readonly mark: MarkFinding;
}

function redacted(
  value: unknown,
  marks: ReadonlyMap<string, readonly Mark[]>,
  { verdict, mark }: Redaction,
) {
  const secrets = verdict.findings.filter(({ class: name, path, start, end }) => {
    const own = name === 'secret' ? (marks.get(path ?? ROOT_PATH) ?? []) : [];
    return own.some((one) => one.start === start && one.end === end);
  });
  const copiesIn = copyFinder(value, secrets);
  return mapTexts(value, (text, path) => {
    return replacedIn(text, [...(marks.get(path) ?? []), ...copiesIn(text)], mark);
  });
}

type ChangeText = (text: string, path: string, kind: 'text' | 'number') => string;

/** A copy of a JSON value with every key, string and number changed. */
function mapTexts(value: unknown, change: ChangeText, at = { path: ROOT_PATH, depth: 0 }): unknown {
  const { path, depth } = at;
  if (typeof value === 'string') return change(value, path, 'text');
  if (typeof value === 'number') {
    const digits = plainNumber(value);
    const shown = change(digits, path, 'number');
    // A number has no room for a marker: it becomes a string.
    return shown === digits ? value : shown;
  }
  // Deeper than any scan goes, nothing was found.
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      return mapTexts(item, change, { path: itemPath(path, index), depth: depth + 1 });
    });
  }
  const members = new Map<string, unknown>();
  for (const [index, [key, member]] of Object.entries(value).entries()) {
    const inner = { path: memberPath(path, key, index), depth: depth + 1 };
    const shown = change(key, inner.path + OF_KEY, 'text');
    members.set(unused(members, shown), mapTexts(member, change, inner));
  }
  return Object.fromEntries(members);
}

/** Two keys may become the same marker. */
function unused(members: ReadonlyMap<string, unknown>, key: string): string {
  if (!members.has(key)) return key;
  let count = 2;
  while (members.has(`${key}#${count}`)) count++;
  return `${key}#${count}`;
}

function replacedIn(text: string, marks: readonly Mark[], mark: MarkFinding): string {
  const sorted = marks
    .filter(({ start, end }) => start < end && start >= 0 && end <= text.length)
    .toSorted((left, right) => left.start - right.start || right.end - left.end);
  let out = '';
  let done = 0;
  for (const { start, end, finding } of sorted) {
    if (end <= done) continue;
    // What overlaps the mark before it goes with it.
    if (start >= done) out += text.slice(done, start) + mark(finding, text.slice(start, end));
    done = end;
  }
  return out + text.slice(done);
}

/** Shorter ones would take words apart that have nothing to do with them. */
const LENGTH_MIN = 8;
const SECRETS_MAX = 256;
const LENGTH_MAX = 4_096;

/**
 * Finds copies of the secrets in any text of the value that they were found in: a second copy may
 * stand where nothing around it gives it away.
 */
function copyFinder(value: unknown, secrets: readonly ContentFinding[]) {
  const texts = new Map<string, string>();
  mapTexts(value, (text, path, kind) => {
    if (kind === 'text') texts.set(path, text);
    return text;
  });
  const found = new Map<string, ContentFinding>();
  for (const finding of secrets) {
    const { path, start, end } = finding;
    const secret = texts.get(path ?? ROOT_PATH)?.slice(start, end) ?? '';
    const fits = secret.length >= LENGTH_MIN && secret.length <= LENGTH_MAX;
    if (fits && found.size < SECRETS_MAX) found.set(secret, finding);
  }
  const known = [...found];
  const prefilter = createPrefilter(
    known.map(([secret, { rule }]) => ({ name: rule, keywords: [secret], anyCase: false })),
  );
  return (text: string): readonly Mark[] => {
    const copies: Mark[] = [];
    if (known.length === 0 || text.length < LENGTH_MIN) return copies;
    prefilter.scan(text, (index, start) => {
      const [secret, finding] = known[index] ?? [];
      if (secret === undefined || finding === undefined) return;
      copies.push({ start, end: start + secret.length, finding });
    });
    return copies;
  };
}
