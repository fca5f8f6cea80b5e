// Which messages must be seen, as a table: most pass by one look-up.
import type { Passing, Way } from '../session/guard.ts';
import { QUIET } from '../taint/spoken.ts';
import { LISTS } from './lists.ts';
import { HEARD, INTRODUCTIONS, PLAIN, RESULTS, TASKS, UNKNOWN } from './methods.ts';
import type { GuardOptions } from './options.ts';

const INSPECT_BYTES_MAX = 1_048_576;

/** Only some methods, or all but some. */
interface Choice {
  readonly isAll: boolean;
  readonly but: ReadonlySet<string>;
}

type Kinds = { readonly [K in Passing['kind']]: Choice };
export type Wanted = { readonly [W in Way]: Kinds } | 'all';

/** Content is looked for in all that passes: what a list of methods leaves out is a way round it. */
export function wantedBy(options: GuardOptions): Wanted {
  const { manifest, content, leaks, selfProtection } = options;
  if (leaks !== undefined || content !== undefined) return 'all';
  const none = only([]);
  const answers = wantedAnswers(options);
  // Of what the agent sends, a manifest must see whatever names something or is not known.
  const named = { isAll: true, but: new Set(PLAIN) };
  const sent = manifest === undefined && selfProtection === undefined ? none : named;
  const asked = answers.includes('tasks/result') ? withTasks(sent) : sent;
  return {
    // Where any answer must be seen, one to an unknown request must be too.
    in: { ...spokenTo(options), answer: only(answers.length === 0 ? [] : [...answers, UNKNOWN]) },
    out: {
      answer: selfProtection === undefined ? none : only(SELF_ANSWERS),
      request: selfProtection === undefined ? asked : withTasks(asked, SELF_TASKS),
      notification: sent,
    },
  };
}

function only(methods: readonly string[]): Choice {
  return { isAll: false, but: new Set(methods) };
}

/** Of what a server says without being asked, taint must hear all that somebody may read. */
function spokenTo({ taint }: GuardOptions): Pick<Kinds, 'request' | 'notification'> {
  const choice = taint === undefined ? only([]) : { isAll: true, but: QUIET };
  return { request: choice, notification: choice };
}

/** Whose result is asked for is known from the request alone. */
function withTasks({ isAll, but }: Choice, tasks: readonly string[] = TASKS): Choice {
  if (!isAll) return only([...but, ...tasks]);
  return { isAll, but: new Set([...but].filter((method) => !tasks.includes(method))) };
}

/** Answers of the agent that may name a file, or tell where relative paths start. */
const SELF_ANSWERS: readonly string[] = ['elicitation/create', 'roots/list'];
/** Requests that carry such answers. */
const SELF_TASKS: readonly string[] = ['tasks/update'];

function wantedAnswers(options: GuardOptions): readonly string[] {
  const { manifest, pins, taint } = options;
  const isShown = manifest !== undefined || pins !== undefined;
  const lists = manifest === undefined ? ['tools/list'] : Object.keys(LISTS);
  return [
    ...(isShown ? [...INTRODUCTIONS, ...lists] : []),
    ...(taint === undefined ? [] : [...RESULTS, ...HEARD]),
    ...(hasSmallLimit(options) ? ['tools/call', 'tasks/result'] : []),
  ];
}

/** Whether the manifest refuses answers that are small enough to be seen. */
export function hasSmallLimit(options: GuardOptions): boolean {
  const { manifest, inspectBytesMax = INSPECT_BYTES_MAX } = options;
  if (manifest === undefined) return false;
  const own = [...manifest.exact.values(), ...manifest.globs].map(
    ({ answerBytesMax = Number.POSITIVE_INFINITY }) => answerBytesMax,
  );
  return Math.min(manifest.answers.bytesMax, ...own) < inspectBytesMax;
}

/** Whether every answer of a tool that is too large to be seen is beyond its limit too. */
export function refusesUnseen(options: GuardOptions): boolean {
  const { manifest, inspectBytesMax = INSPECT_BYTES_MAX } = options;
  if (manifest === undefined) return false;
  const own = [...manifest.exact.values(), ...manifest.globs].map(
    ({ answerBytesMax = 0 }) => answerBytesMax,
  );
  return Math.max(manifest.answers.bytesMax, ...own) <= inspectBytesMax;
}

export interface Kind {
  readonly way: Way;
  readonly kind: Passing['kind'];
  readonly method: string;
}

export function isWanted(wanted: Wanted, { way, kind, method }: Kind): boolean {
  if (wanted === 'all') return true;
  const { isAll, but } = wanted[way][kind];
  return but.has(method) !== isAll;
}
