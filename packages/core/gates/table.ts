// Which messages a gate must inspect, as a table: most need one look-up.
import { MAX_INSPECT_BYTES } from '@subluminal/contracts';
import type { OtherMessage, Way } from '../session/guard.ts';
import { OBSERVED_METHODS } from '../session/peek/protocol-names.ts';
import { isSpoken } from '../taint/spoken.ts';
import type { GuardOptions } from './guard-options.ts';
import { LISTS } from './lists.ts';
import { INTRODUCTIONS, PLAIN, TASK_LIST, UNKNOWN } from './methods.ts';

type MethodTest = (method: string) => boolean;
export type SeenMessages = {
  readonly [W in Way]: { readonly [K in OtherMessage['kind']]: MethodTest };
};

const ALL: MethodTest = () => true;
const NONE: MethodTest = () => false;
const EVERYTHING = { answer: ALL, request: ALL, notification: ALL };

/** Answers of the agent that may name a file, or the start of relative paths. */
const SELF_ANSWERS: readonly string[] = ['elicitation/create', 'roots/list'];

/** Content is scanned in every message: a list of methods would be a way around the scan. */
export function seenMessages(options: GuardOptions): SeenMessages {
  const { manifest, content, leaks, selfProtection, taint } = options;
  if (leaks !== undefined || content !== undefined) return { in: EVERYTHING, out: EVERYTHING };
  const answers = seenAnswers(options);
  const isPlain = among(PLAIN);
  // A manifest must see messages of the agent that name something, and unknown ones.
  const sent: MethodTest =
    manifest === undefined && selfProtection === undefined ? NONE : (method) => !isPlain(method);
  // Taint must know every unrequested message of a server that a model or a person may read.
  const spoken = taint === undefined ? NONE : isSpoken;
  const told = hasSmallLimit(options) ? among(['notifications/tasks']) : NONE;
  return {
    in: {
      request: spoken,
      notification: (method) => spoken(method) || told(method),
      // If any answer must be inspected, so must an answer to an unknown request.
      answer: answers.length === 0 ? NONE : among([...answers, UNKNOWN]),
    },
    out: {
      answer: selfProtection === undefined ? NONE : among(SELF_ANSWERS),
      request: sent,
      notification: sent,
    },
  };
}

function among(methods: readonly string[]): MethodTest {
  const known = new Set(methods);
  return (method) => known.has(method);
}

function seenAnswers(options: GuardOptions): readonly string[] {
  const { manifest, pins, taint } = options;
  const isShown = manifest !== undefined || pins !== undefined;
  const lists = manifest === undefined ? ['tools/list'] : [...Object.keys(LISTS), TASK_LIST];
  return [
    ...(isShown ? [...INTRODUCTIONS, ...lists] : []),
    ...(taint === undefined ? [] : [...OBSERVED_METHODS]),
    ...(hasSmallLimit(options) ? ['tools/call', 'tasks/result', 'tasks/get'] : []),
  ];
}

/** Whether the manifest refuses answers that are small enough to be seen. */
export function hasSmallLimit(options: GuardOptions): boolean {
  const limits = answerLimits(options, Number.POSITIVE_INFINITY);
  return Math.min(...limits) < (options.inspectBytesMax ?? MAX_INSPECT_BYTES);
}

/** Whether every answer of a tool that is too large to be seen is beyond its limit too. */
export function refusesUnseen(options: GuardOptions): boolean {
  if (options.manifest === undefined) return false;
  return Math.max(...answerLimits(options, 0)) <= (options.inspectBytesMax ?? MAX_INSPECT_BYTES);
}

function answerLimits({ manifest }: GuardOptions, otherwise: number): readonly number[] {
  if (manifest === undefined) return [];
  const rules = [...manifest.exact.values(), ...manifest.globs];
  return [
    manifest.answers.bytesMax,
    ...rules.map(({ answerBytesMax = otherwise }) => answerBytesMax),
  ];
}

export interface MessageKind {
  readonly way: Way;
  readonly kind: OtherMessage['kind'];
  readonly method: string;
}
