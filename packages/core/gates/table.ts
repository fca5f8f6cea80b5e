// Which messages must be seen, as a table: most pass by one look-up.
import type { Passing, Way } from '../session/guard.ts';
import { LISTS } from './lists.ts';
import type { GuardOptions } from './options.ts';

const RESULTS: readonly string[] = ['tools/call', 'tasks/result', 'resources/read', 'prompts/get'];
/** Requests of the agent that name a prompt or a resource, or carry arguments for one. */
const NAMING: readonly string[] = [
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'completion/complete',
];
/** Requests of the server that speak to the model or to the user. */
const SPEAKING: readonly string[] = ['sampling/createMessage', 'elicitation/create'];
const TOLD: readonly string[] = ['notifications/message', 'notifications/progress'];
/** The method of an answer to nothing that is open. */
const UNKNOWN = '';
const INSPECT_BYTES_MAX = 1_048_576;

type Kinds = { readonly [K in Passing['kind']]: ReadonlySet<string> };
type Wanted = { readonly [W in Way]: Kinds } | 'all';

function wantedBy(options: GuardOptions): Wanted {
  const { manifest, pins, content, taint, leaks } = options;
  if (leaks !== undefined) return 'all';
  const isScanned = content !== undefined;
  const isShown = manifest !== undefined || pins !== undefined || isScanned;
  const lists = manifest !== undefined || isScanned ? Object.keys(LISTS) : ['tools/list'];
  const isRead = isScanned || taint !== undefined;
  const answers = [
    ...(isShown ? ['initialize', ...lists] : []),
    ...(isRead ? RESULTS : []),
    ...(hasSmallLimit(options) ? ['tools/call', 'tasks/result'] : []),
  ];
  return {
    in: {
      // Where any answer must be seen, one to an unknown request must be too.
      answer: new Set(answers.length === 0 ? [] : [...answers, UNKNOWN]),
      request: new Set(isScanned ? SPEAKING : []),
      notification: new Set(isScanned ? TOLD : []),
    },
    out: {
      answer: new Set(isScanned ? SPEAKING : []),
      request: new Set(manifest !== undefined || isScanned ? NAMING : []),
      notification: new Set(),
    },
  };
}

/** Whether the manifest refuses answers that are small enough to be seen. */
function hasSmallLimit(options: GuardOptions): boolean {
  const { manifest, inspectBytesMax = INSPECT_BYTES_MAX } = options;
  if (manifest === undefined) return false;
  const own = [...manifest.exact.values(), ...manifest.globs].map(
    ({ answerBytesMax = Number.POSITIVE_INFINITY }) => answerBytesMax,
  );
  return Math.min(manifest.answers.bytesMax, ...own) < inspectBytesMax;
}

/** Whether every answer of a tool that is too large to be seen is beyond its limit too. */
function refusesUnseen(options: GuardOptions): boolean {
  const { manifest, inspectBytesMax = INSPECT_BYTES_MAX } = options;
  if (manifest === undefined) return false;
  const own = [...manifest.exact.values(), ...manifest.globs].map(
    ({ answerBytesMax = 0 }) => answerBytesMax,
  );
  return Math.max(manifest.answers.bytesMax, ...own) <= inspectBytesMax;
}

interface Kind {
  readonly way: Way;
  readonly kind: Passing['kind'];
  readonly method: string;
}

function isWanted(wanted: Wanted, { way, kind, method }: Kind): boolean {
  return wanted === 'all' || wanted[way][kind].has(method);
}

export type { Kind, Wanted };
export {
  hasSmallLimit,
  isWanted,
  NAMING,
  RESULTS,
  refusesUnseen,
  SPEAKING,
  TOLD,
  UNKNOWN,
  wantedBy,
};
