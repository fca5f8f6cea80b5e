// Remembers the values of an answer, with the place that they came from.
import { survey } from '../scan/detect/survey.ts';
import { textOfBytes, unwrap } from '../scan/detect/unwrap.ts';
import { leavesOf, type TaintLeaf } from './leaves.ts';
import { remember } from './memory.ts';
import { withOrders } from './orders.ts';
import { partsOf } from './records.ts';
import { sentBy } from './sent.ts';
import { Effort, spellingsOf } from './tokens/spellings.ts';
import { keysIn } from './tokens/tokens.ts';
import type { TaintSource, TaintState, Trust } from './types.ts';

export interface Observation extends TaintSource {
  readonly trust: Trust;
  /** The result as text, or as the JSON that it is. */
  readonly content: unknown;
  /** The content is only a part of what the agent got. */
  readonly partial?: boolean;
}

const LIMITS = { charsMax: 1_048_576, nodesMax: 50_000 };
/** All spellings together, and what is found in them: a text that holds more is not read to its end. */
const UNITS_MAX = 2_097_152;
const UNITS_OF_LEAF = 16;
const UNITS_OF_WORD = 16;
const UNITS_OF_FIND = 40;
const UNITS_OF_KEY = 8;
/** Short texts are looked at together. */
const BATCH_LENGTH = 16_384;
/** No value goes over it: a blank, so that no break can be taken out of an address. */
const BETWEEN = ' \n';
/** Descriptions of the server itself. They bring no input: its tools do, when they are called. */
const INTRODUCTIONS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'tools/list',
]);

/** The run after it has read an answer. Beyond the limits an untrusted answer makes the run blind. */
export function observe(state: TaintState, observation: Observation): TaintState {
  const { server, tool, callId, trust, content, partial } = observation;
  const source: TaintSource = { server, tool, callId };
  const { leaves, whole } = leavesOf(content, LIMITS);
  const effort = new Effort(UNITS_MAX);
  const sent = sentBy(state, source);
  const plain = leavesWithBytes(leaves, effort);
  const { prose, fields } = partsOf(plain);
  const isWhole = () => whole && partial !== true && !effort.isSpent;
  const keep = (to: TaintState, place: 'field' | 'text', batches: Iterable<string>) =>
    remember(to, keysOf(batches, sent, effort), { sighting: { trust, source, place }, isWhole });
  const seen = keep(keep(state, 'text', batchesOf(prose)), 'field', batchesOf(fields));
  const brings = trust === 'untrusted' && !(callId === '' && INTRODUCTIONS.has(tool));
  if (!brings) return seen;
  const ordered = withOrders(seen, source, batchesOf(plain.map(({ text }) => text)));
  if (ordered.flags.has('untrusted_input')) return ordered;
  return { ...ordered, flags: new Map([...ordered.flags, ['untrusted_input', source]]) };
}

/** The content of a file that came as base64 is text. */
function leavesWithBytes(leaves: readonly TaintLeaf[], effort: Effort): readonly TaintLeaf[] {
  const read: TaintLeaf[] = [];
  for (const leaf of leaves) {
    const { text, path, isKey } = leaf;
    if (!effort.spend(UNITS_OF_LEAF)) break;
    const isBlob = !isKey && path.at(-1) === 'blob' && effort.spend(text.length / 2);
    const plain = isBlob ? textOfBytes(text, 'base64') : undefined;
    read.push(plain === undefined ? leaf : { ...leaf, text: plain });
  }
  return read;
}

function* batchesOf(texts: Iterable<string>): Generator<string> {
  let batch = '';
  for (const text of texts) {
    batch = batch === '' ? text : batch + BETWEEN + text;
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = '';
  }
  if (batch !== '') yield batch;
}

/**
 * The values of an answer beyond the arguments of its own call. An echo brings nothing in, and vouches
 * for nothing: what was known of the value stays as it was.
 */
function* keysOf(
  texts: Iterable<string>,
  sent: Pick<ReadonlySet<string>, 'has'>,
  effort: Effort,
): Generator<string> {
  for (const text of texts) {
    const spellings = [...spellingsOf(text, effort), ...unwrappedIn(text, effort)];
    for (const [index, spelling] of [...onlyNew(spellings)].entries()) {
      if (index > 0 && !effort.spend(spelling.length)) return;
      for (const keys of keysIn(spelling)) {
        const units =
          keys.length === 0 ? UNITS_OF_WORD : UNITS_OF_FIND + UNITS_OF_KEY * keys.length;
        if (!effort.spend(units)) return;
        if (!keys.every((key) => sent.has(key))) yield* keys;
      }
    }
  }
}

/** What is hidden in base64, in hex or between letters set apart. */
function unwrappedIn(text: string, effort: Effort): readonly string[] {
  const { views } = unwrap(text, survey(text));
  return views.map((view) => view.text).filter(({ length }) => effort.spend(length));
}

/** Of each spelling the lines that no other has: a page with one percent sign is not read twice. */
function* onlyNew([first = '', ...rest]: readonly string[]): Generator<string> {
  yield first;
  if (rest.length === 0) return;
  const seen = new Set(first.split('\n'));
  for (const spelling of rest) {
    const lines = spelling.split('\n').filter((line) => !seen.has(line));
    for (const line of lines) seen.add(line);
    yield lines.join('\n');
  }
}
