// Guesses the kind of a file before it is parsed: a file given in the place of another then gets one
// clear sentence instead of everything that is wrong with it.

import { type Failure, isObject } from '@subluminal/contracts';
import { badUsage } from '../input/command.ts';
import type { FileBytes } from '../input/read-file.ts';

type FileKind = 'bundle' | 'snapshot' | 'call' | 'events' | 'key';

/** The guess looks at the beginning of the file only. */
const LOOK_BYTES_MAX = 8_388_608;

const WORDS: { readonly [K in FileKind]: string } = {
  bundle: 'looks like a bundle (it has policy_id or rules)',
  snapshot: 'is a compiled snapshot',
  call: 'looks like a call (it has server_name and tool_name)',
  events: 'looks like recorded events (it has v, type and ts)',
  key: 'is a key',
};

/** Undefined when the kind is unknown; the reader of the expected kind then reports what is wrong. */
function kindOf(bytes: Uint8Array): FileKind | undefined {
  const text = startOf(bytes);
  if (text.startsWith('-----BEGIN ')) return 'key';
  if (!/^[{[]/.test(text)) return kindOfYaml(text);
  const [line = ''] = text.split('\n', 1);
  return kindOfJson(parsed(line)) ?? kindOfJson(parsed(text));
}

function kindOfJson(value: unknown): FileKind | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(one)) return undefined;
  const has = (...names: string[]) => names.every((name) => Object.hasOwn(one, name));
  if (has('snapshot', 'policy_hash')) return 'snapshot';
  if (has('v', 'type', 'ts')) return 'events';
  if (has('policy_id') || has('rules')) return 'bundle';
  return has('server_name') && has('tool_name') ? 'call' : undefined;
}

/** Top-level keys only: a rule may hold a tool_name too. */
function kindOfYaml(text: string): FileKind | undefined {
  const has = (name: string) => new RegExp(`^(?:- )?["']?${name}["']?:`, 'm').test(text);
  if (has('policy_id') || has('rules')) return 'bundle';
  return has('server_name') || has('tool_name') ? 'call' : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text that is no JSON has a comment, a document start or a key on a line. */
function isYaml(text: string): boolean {
  if (/^[{[]/.test(text)) return false;
  return /^(?:---\s*$|#|(?:- )?["']?[A-Za-z_][\w-]*["']?:(?:\s|$))/m.test(text);
}

/** A failure when a policy was expected and something else is there. */
export function notAPolicy(file: FileBytes): Failure | undefined {
  return wrongKind(file, ['bundle', 'snapshot'], { key: 'Give the policy.' });
}

/** A failure when a bundle was expected, as written, and something else is there. */
export function notABundle(file: FileBytes): Failure | undefined {
  const snapshot = 'Give the bundle it was made from.';
  return wrongKind(file, ['bundle'], { key: 'Give the policy.', snapshot });
}

/** A failure when calls were expected and something else is there. */
export function notACall(file: FileBytes): Failure | undefined {
  const events = 'Give calls here; `sub policy replay` reads events.';
  const wrong = wrongKind(file, ['call'], { events });
  if (wrong !== undefined || !isYaml(startOf(file.bytes))) return wrong;
  const fix = 'Write it as {"server_name": …, "tool_name": …, "args": {…}}.';
  return badUsage(`${file.name} looks like YAML, and calls are JSON.`, fix);
}

/** A failure when recorded events were expected and something else is there. */
export function notEvents(file: FileBytes): Failure | undefined {
  const call = 'Give recorded events; `sub policy explain --call` reads calls.';
  const bundle = 'Are the arguments swapped? The policy comes first, then the events.';
  return wrongKind(file, ['events'], { call, bundle, snapshot: bundle });
}

/** The kind of a file that should be a snapshot, in words; undefined when it is unknown. */
export function insteadOfSnapshot(file: FileBytes): string | undefined {
  const kind = kindOf(file.bytes);
  return kind === undefined || kind === 'snapshot' ? undefined : WORDS[kind];
}

function wrongKind(
  { name, bytes }: FileBytes,
  expected: readonly FileKind[],
  fixes: { readonly [K in FileKind]?: string },
): Failure | undefined {
  const kind = kindOf(bytes);
  if (kind === undefined || expected.includes(kind)) return undefined;
  return badUsage(`${name} ${WORDS[kind]}.`, fixes[kind] ?? 'Are the arguments swapped?');
}

function startOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, LOOK_BYTES_MAX)).trimStart();
}
