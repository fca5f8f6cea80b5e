// Calls to try a policy with, as JSON. Their arguments are hashed from the text, so that they hash
// as they would on the wire.

import {
  check,
  definedFields,
  type Failure,
  failure,
  isObject,
  type JsonObject,
  type Mismatch,
} from '@subluminal/contracts';
import { argsHash, canonicalize, itemTexts, memberText } from '@subluminal/core/json';
import { type Call, type CallResult, type Identity, subjectOf } from '@subluminal/core/policy';
import { choice, closed, list, may, must } from '@subluminal/core/section-shape';
import { sha256 } from '@subluminal/plane/crypto';
import { badUsage, orThrow } from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import { CLIENTS, ENVS } from '../input/identity-values.ts';
import { cliReference } from '../input/package-file.ts';

export interface PlannedCall {
  readonly call: Call;
  /** The canonical text of the arguments, with every digit. */
  readonly argsText: string;
  /** Absent: at the time of the call before it. */
  readonly atMs?: number;
  readonly repeat: number;
  /** How the call ends if it passes; breakers count errors. */
  readonly result: CallResult;
}

interface CallEntry {
  readonly server_name: string;
  readonly tool_name: string;
  readonly subject?: 'tool' | Call['subject'];
  readonly cost_usd?: number;
  readonly args?: JsonObject;
  readonly identity?: Partial<Identity>;
  readonly risk_class?: readonly string[];
  readonly approved?: readonly string[];
  readonly at?: string;
  readonly repeat?: number;
  readonly result?: CallResult;
}

interface CallSource {
  readonly name: string;
  readonly text: string;
  /** The identity of calls that name none. */
  readonly identity: Identity;
}

const REPEAT_MAX = 10_000;
const CALLS_MAX = 10_000;

const NAME = { kind: 'string', lengthMin: 1, lengthMax: 1_024 } as const;
const NAMES = list(NAME, 100);
const JSON_OBJECT = { kind: 'record', values: { kind: 'json' } } as const;

const IDENTITY = closed({
  run_id: may(NAME),
  agent_id: may(NAME),
  client: may(choice(...CLIENTS)),
  env: may(choice(...ENVS)),
  principal: may(NAME),
  workload: may(JSON_OBJECT),
});

const CALL = closed({
  server_name: must(NAME),
  tool_name: must(NAME),
  subject: may(choice('tool', 'resource', 'prompt', 'turn')),
  cost_usd: may({ kind: 'number', min: 0 }),
  args: may(JSON_OBJECT),
  identity: may(IDENTITY),
  risk_class: may(NAMES),
  approved: may(NAMES),
  at: may({ kind: 'string', lengthMin: 1, lengthMax: 64, format: 'rfc3339' }),
  repeat: may({ kind: 'integer', min: 1, max: REPEAT_MAX }),
  result: may(choice('ok', 'error')),
});

/** Reads one call, or a list of calls that are made in a row. Throws the failure of a wrong one. */
export function parseCalls(source: CallSource): readonly PlannedCall[] {
  const canonical = canonicalText(source.text, source.name);
  const texts = itemTexts(canonical) ?? [canonical];
  if (texts.length === 0 || texts.length > CALLS_MAX) {
    const message = `${source.name} holds ${texts.length} calls.`;
    return orThrow(badUsage(message, `Give 1 to ${CALLS_MAX} calls.`));
  }
  return texts.map((text, index) =>
    plannedCall(text, source, texts.length > 1 ? `[${index}]` : ''),
  );
}

/** The canonical form of JSON text; throws a failure that tells where it is wrong. */
export function canonicalText(text: string, name: string): string {
  const read = canonicalize(text);
  if (read.ok) return read.canonical;
  const message = `${name}:${placeOf(text, read.offset)}: ${read.message}.`;
  return orThrow(failure(read.code, message, 'Correct the JSON there.'));
}

/** `place` is the position in a list of calls, or empty. */
function plannedCall(text: string, source: CallSource, place: string): PlannedCall {
  const value: unknown = JSON.parse(text);
  if (!isEntry(value)) return orThrow(wrongCall(value, source.name, place));
  const hashed = argsHash(memberText(text, 'args'), sha256);
  if (!hashed.ok) return orThrow(failure(hashed.code, `${source.name}: ${hashed.message}.`, ''));
  const { server_name, tool_name, args = {}, risk_class, approved, cost_usd } = value;
  const cost_micros = cost_usd === undefined ? undefined : Math.round(cost_usd * 1_000_000);
  // A tool may have such a name, but hardly any has.
  const { subject: named = subjectOf(tool_name) } = value;
  const subject = named === 'tool' ? undefined : named;
  const { repeat = 1, result = 'ok', at } = value;
  const { canonical: argsText, hash } = hashed;
  const call: Call = {
    identity: { ...source.identity, ...value.identity },
    server_name,
    tool_name,
    args,
    args_hash: hash,
    bytes_in: Buffer.byteLength(argsText),
    ...definedFields({ subject, cost_micros, risk_class, approved }),
  };
  return { call, argsText, repeat, result, ...(at !== undefined && { atMs: Date.parse(at) }) };
}

function isEntry(value: unknown): value is CallEntry {
  return check(CALL, value).length === 0;
}

function wrongCall(value: unknown, name: string, place: string): Failure {
  const mismatches = check(CALL, value);
  // A misspelt field is also a missing one; the misspelling is what helps.
  const mismatch = mismatches.find(({ problem }) => problem === 'unknown') ?? mismatches[0];
  if (mismatch === undefined) throw new Error('a call is wrong, but nothing in it is');
  const { path, expected, got, choices } = mismatch;
  const at = [place, ...path].filter((part) => part !== '').join('.');
  const message = `${name}: at ${at || 'the top'}: expected ${expected}, got ${got}.`;
  const help = `See ${cliReference()} for what a call holds.`;
  return badUsage(message, didYouMean(wordAt(value, mismatch), choices, help));
}

/** What was written: a field that does not exist, or the value of one that does. */
export function wordAt(value: unknown, { path, problem }: Mismatch): string {
  if (problem !== 'value') return String(path.at(-1) ?? '');
  let found = value;
  for (const part of path) {
    if (Array.isArray(found)) found = found[Number(part)];
    else found = isObject(found) ? found[part] : undefined;
  }
  return typeof found === 'string' ? found : '';
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}
