// `npm run bench -- corpora [FILE…] [--out FOLDER] [--json]`: what the scanner finds in texts that
// nobody here wrote. A file has one JSON object per line, gzipped or not:
// `{ "class", "source", "label", "text" }`, with the class `secret`, `personal`, `injection`,
// `definition` or `taint` and the label `attack` or `benign`. The text of `taint` is JSON: the calls of
// a task with their answers, and those that an attack adds,
// `{ "calls": [{ "tool", "args", "answer" }], "attack": […] }`. Without a file, the corpora of the
// tests are read.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { isObject } from '@subluminal/contracts';
import { type FindingClass, scanJson, scanText, scanToolDefinition } from '@subluminal/core/detect';
import { compileTaint, judgeTaint, newTaint, observe, recordCall } from '@subluminal/core/taint';
import { sha256 } from '@subluminal/plane/crypto';
import {
  type Corpus,
  DEFINITIONS,
  ENCODED,
  HIDDEN,
  PERSONAL,
  RESULTS,
  SECRETS,
} from '../test/corpora/index.ts';
import { table, UsageError } from './measure.ts';

const USAGE = 'Usage: npm run bench -- corpora [FILE…] [--out FOLDER] [--json]';

/** The classes of findings that count for each class of texts. */
const WANTED: { readonly [kind: string]: readonly FindingClass[] } = {
  secret: ['secret'],
  personal: ['personal'],
  injection: ['injection', 'hidden_text'],
  definition: ['injection', 'hidden_text'],
  taint: [],
};

interface Sample {
  readonly class: string;
  readonly source: string;
  readonly label: 'attack' | 'benign';
  readonly text: string;
}

interface Tally {
  readonly kind: string;
  readonly source: string;
  readonly attacks: number;
  readonly found: number;
  /** Attacks that are left out because anyone sees that they are made up. */
  readonly dummies: number;
  readonly benign: number;
  readonly alarms: number;
}

/**
 * Secrets that anyone sees to be made up: one character eight times in a row, a piece of a few
 * characters three times in a row, the keys of a keyboard or the alphabet in order, a sample's name,
 * or the word itself for a password.
 */
const DUMMY =
  /([A-Za-z0-9])\1{7,}|([A-Za-z0-9]{4,20}?)\2{2,}|1234567890|abcdefghij|EXAMPLE|:password@/i;

const isDummy = ({ class: kind, label, text }: Sample) =>
  kind === 'secret' && label === 'attack' && DUMMY.test(text);

export function run(args: readonly string[]): void {
  const { files, out, json } = readOptions(args);
  const samples = files.length === 0 ? ownSamples() : files.flatMap(readSamples);
  const wrong = samples.filter((sample) => isFound(sample) !== (sample.label === 'attack'));
  const tallies = tally(samples, new Set(wrong));
  if (out !== undefined) writeWrong(out, wrong);
  process.stdout.write(json ? `${JSON.stringify(tallies, null, 2)}\n` : textOf(tallies));
}

function readOptions(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { out: { type: 'string' }, json: { type: 'boolean', default: false } },
    });
    return { files: positionals, out: values.out, json: values.json };
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${USAGE}`);
  }
}

function readSamples(path: string): readonly Sample[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value: unknown = JSON.parse(line);
    if (!isSample(value)) throw new UsageError(`${path}:${index + 1} is no sample.\n${USAGE}`);
    return [value];
  });
}

function isSample(value: unknown): value is Sample {
  if (!isObject(value)) return false;
  const { class: kind, source, label, text } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(WANTED, kind)) return false;
  return (
    typeof source === 'string' &&
    typeof text === 'string' &&
    /^(?:attack|benign)$/.test(String(label))
  );
}

function ownSamples(): readonly Sample[] {
  const of = (kind: string, corpus: Corpus): readonly Sample[] =>
    (['attacks', 'benign'] as const).flatMap((name) =>
      corpus[name].map(({ value }) => ({
        class: kind,
        source: `ours: ${corpus.name}`,
        label: name === 'attacks' ? 'attack' : 'benign',
        text: typeof value === 'string' ? value : JSON.stringify(value),
      })),
    );
  return [
    ...of('secret', SECRETS),
    ...of('personal', PERSONAL),
    ...[RESULTS, HIDDEN, ENCODED].flatMap((corpus) => of('injection', corpus)),
    ...of('definition', DEFINITIONS),
  ];
}

/** Whether something was found that a policy acts on by default: likely or certain. */
function isFound({ class: kind, text }: Sample): boolean {
  if (kind === 'taint') return isHeld(parsed(text));
  const options = { fingerprint: sha256, classes: WANTED[kind] ?? [] };
  const value = parsed(text);
  const { findings } =
    kind === 'definition'
      ? scanToolDefinition(value ?? { description: text }, options)
      : value === undefined
        ? scanText(text, options)
        : scanJson(value, options);
  return findings.some(({ confidence }) => confidence !== 'hint');
}

interface StoryCall {
  readonly tool: string;
  readonly args: unknown;
  readonly answer: unknown;
}

/** Whether `taint: {}` stops one of the calls that count: those of the attack, or all of a task. */
function isHeld(story: unknown): boolean {
  const { calls = [], attack = [] } = isObject(story) ? story : {};
  const own = isStoryCalls(calls) ? calls : [];
  const added = isStoryCalls(attack) ? attack : [];
  const policy = compileTaint({});
  const server = 'suite';
  let state = newTaint();
  const stops = [...own, ...added].map(({ tool, args, answer }, index) => {
    const { objections } = judgeTaint(state, { server, tool, args }, policy);
    const source = { server, tool, callId: `call-${index}` };
    state = recordCall(state, { ...source, args }, policy);
    state = observe(state, { ...source, trust: 'untrusted', content: answer });
    return objections.length > 0;
  });
  return stops.slice(added.length === 0 ? 0 : own.length).includes(true);
}

function isStoryCalls(value: unknown): value is readonly StoryCall[] {
  return (
    Array.isArray(value) && value.every((one) => isObject(one) && typeof one['tool'] === 'string')
  );
}

/** An object or a list, as arguments and answers are; other texts are texts. */
function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function tally(samples: readonly Sample[], wrong: ReadonlySet<Sample>): readonly Tally[] {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = `${sample.class}\0${sample.source}`;
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups]
    .toSorted(([one], [two]) => one.localeCompare(two))
    .map(([key, group]) => {
      const [kind = '', source = ''] = key.split('\0');
      const count = (label: string, isRight: boolean) =>
        group.filter((one) => {
          return one.label === label && wrong.has(one) !== isRight && !isDummy(one);
        }).length;
      return {
        kind,
        source,
        attacks: count('attack', true) + count('attack', false),
        found: count('attack', true),
        dummies: group.filter(isDummy).length,
        benign: count('benign', true) + count('benign', false),
        alarms: count('benign', false),
      };
    });
}

function textOf(tallies: readonly Tally[]): string {
  const rows = tallies.map(({ kind, source, attacks, found, dummies, benign, alarms }) => [
    kind,
    source,
    attacks === 0 ? '' : `${found} of ${attacks}`,
    attacks === 0 ? '' : `${((100 * found) / attacks).toFixed(1)} %`,
    dummies === 0 ? '' : String(dummies),
    benign === 0 ? '' : `${alarms} of ${benign}`,
    benign === 0 ? '' : `${((1_000 * alarms) / benign).toFixed(1)} per 1,000`,
  ]);
  return table([['class', 'corpus', 'found', 'recall', 'dummies', 'false alarms', ''], ...rows]);
}

/** What was missed and what was a false alarm, a file for each class. */
function writeWrong(folder: string, wrong: readonly Sample[]): void {
  mkdirSync(folder, { recursive: true });
  for (const kind of Object.keys(WANTED)) {
    for (const [name, label] of [
      ['missed', 'attack'],
      ['alarms', 'benign'],
    ]) {
      const lines = wrong
        .filter((one) => one.class === kind && one.label === label)
        .map((one) => `${JSON.stringify(one)}\n`);
      writeFileSync(join(folder, `${kind}-${name}.jsonl`), lines.join(''));
    }
  }
}
