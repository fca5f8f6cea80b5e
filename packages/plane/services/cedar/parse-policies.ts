// Texts of policies → parsed policies with their ids and annotations, or what is wrong with them.
import type { DetailedError, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { SubCode } from '@subluminal/contracts';
import { nearest, type Position, type Problem, visible } from '@subluminal/core/policy';
import type { Engine } from './evaluate.ts';
import type { CedarPolicy } from './types.ts';

/** A part of a file that the engine is given: one policy, or a whole schema. */
export interface PolicyText {
  /** The id of a policy that brings no `@id` of its own. */
  readonly id: string;
  readonly file: string;
  readonly fileText: string;
  /** Where the text starts in the file, in UTF-16 units. */
  readonly start: number;
  readonly text: string;
}

export interface ParsedPolicy extends CedarPolicy {
  readonly source: PolicyText;
  readonly json: PolicyJson;
}

const POLICIES_MAX = 2_000;
const ID_LENGTH_MAX = 200;
const ANNOTATION_LENGTH_MAX = 1_000;
const MESSAGE_LENGTH_MAX = 400;
const ANNOTATIONS = ['id', 'message', 'hint', 'reason_code'];

export function wholeText(file: string, text: string): PolicyText {
  return { id: file, file, fileText: text, start: 0, text };
}

/**
 * The policies of a file, in order. In Cedar a semicolon ends a policy and occurs nowhere else,
 * except in strings and comments.
 */
export function splitPolicies(file: string, fileText: string): readonly PolicyText[] {
  const policies: PolicyText[] = [];
  let start = 0;
  let hasCode = false;
  const take = (end: number): void => {
    const text = fileText.slice(start, end);
    // A policy starts behind the blanks and comments before it.
    const skipped = /^(?:\s+|\/\/[^\n]*(?:\n|$))*/.exec(text)?.[0].length ?? 0;
    policies.push({ id: file, file, fileText, start: start + skipped, text: text.slice(skipped) });
  };
  const token = /\/\/[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|;|[^\s/";]+|\//g;
  for (const match of fileText.matchAll(token)) {
    const [text] = match;
    if (text.startsWith('//')) continue;
    hasCode = true;
    if (text !== ';') continue;
    take(match.index + 1);
    start = match.index + 1;
    hasCode = false;
  }
  if (hasCode) take(fileText.length);
  return policies;
}

export function readPolicies(engine: Engine, texts: readonly PolicyText[]) {
  const problems: Problem[] = [];
  const byId = new Map<string, ParsedPolicy>();
  for (const [index, source] of texts.entries()) {
    if (index >= POLICIES_MAX) {
      const message = `there are more than ${POLICIES_MAX} policies`;
      const fix = 'Put some of them into one.';
      problems.push(problemAt(source, 0, { code: 'SUB_CEDAR_FILES', message, fix }));
      break;
    }
    const policy = readPolicy(engine, source, problems);
    if (policy === undefined) continue;
    const first = byId.get(policy.id);
    if (first === undefined) byId.set(policy.id, policy);
    else problems.push(sameId(policy, first));
  }
  return { policies: [...byId.values()], problems };
}

function readPolicy(
  engine: Engine,
  source: PolicyText,
  problems: Problem[],
): ParsedPolicy | undefined {
  const answer = engine.policyToJson(source.text);
  if (answer.type === 'failure') {
    for (const error of answer.errors) {
      const text = { path: source.id, ...engineText(error, 'Correct the policy here') };
      problems.push(problemAt(source, errorByte(error), { code: 'SUB_CEDAR_SYNTAX', ...text }));
    }
    return undefined;
  }
  const annotations = new Map(Object.entries(answer.json.annotations ?? {}));
  const annotation = (key: string) => annotations.get(key)?.slice(0, ANNOTATION_LENGTH_MAX) || null;
  const id = annotations.get('id') || source.id;
  problems.push(...annotationProblems(annotations, { ...source, id }));
  return {
    id,
    effect: answer.json.effect,
    file: source.file,
    position: positionAt(source.fileText, source.start),
    message: annotation('message'),
    hint: annotation('hint'),
    reasonCode: annotation('reason_code'),
    source,
    json: answer.json,
  };
}

function annotationProblems(
  annotations: ReadonlyMap<string, string>,
  source: PolicyText,
): readonly Problem[] {
  const problems: Problem[] = [];
  const { id } = source;
  const add = (level: 'error' | 'warning', message: string, fix: string) => {
    const text = { code: 'SUB_CEDAR_POLICY', level, path: id, message, fix } as const;
    problems.push(problemAt(source, 0, text));
  };
  if (id.length > ID_LENGTH_MAX || visible(id, ID_LENGTH_MAX) !== id) {
    const fix = `Use at most ${ID_LENGTH_MAX} visible characters.`;
    add('error', 'the id is too long or has hidden characters in it', fix);
  }
  const code = annotations.get('reason_code');
  if (code !== undefined && !/^[A-Za-z]\w{0,63}$/.test(code)) {
    const fix = 'Use letters, digits and `_`, like `@reason_code("NO_FORCE_PUSH")`.';
    add('error', `the reason code \`${code}\` is no name`, fix);
  }
  for (const name of annotations.keys()) {
    const meant = ANNOTATIONS.includes(name) ? undefined : nearest(name, ANNOTATIONS);
    if (meant === undefined) continue;
    const message = `the annotation \`@${name}\` means nothing here; did you mean \`@${meant}\`?`;
    add('warning', message, `Rename it to \`@${meant}\`.`);
  }
  return problems;
}

function sameId({ id, source }: ParsedPolicy, first: ParsedPolicy): Problem {
  const message = `the id \`${id}\` is also that of the policy at ${first.file}:${first.position.line}`;
  const fix = 'Give one of them another `@id("…")`.';
  return problemAt(source, 0, { code: 'SUB_CEDAR_POLICY', path: id, message, fix });
}

/** Which parts of a call the policies look at; when in doubt, all of them. */
export function usedArguments(policies: readonly ParsedPolicy[]): {
  readonly args: boolean;
  readonly flat: boolean;
} {
  const conditions = policies.map(({ json }) => JSON.stringify(json.conditions)).join('\n');
  // The context as a whole value, not one of its attributes.
  const whole = /(?<!"left":)\{"Var":"context"\}|"[=!]=":\{"left":\{"Var":"context"\}/.test(
    conditions,
  );
  const flat = whole || conditions.includes('"flat"');
  return { flat, args: flat || /"(?:args|nulls)"/.test(conditions) };
}

interface ProblemText {
  readonly code: Extract<SubCode, `SUB_CEDAR_${string}` | 'SUB_FILE_UNSAFE'>;
  readonly level?: 'error' | 'warning';
  readonly path?: string;
  readonly message: string;
  readonly fix: string;
}

/** A problem in a text, at a position counted in its bytes as the engine counts. */
export function problemAt(source: PolicyText, byte: number, problem: ProblemText): Problem {
  const { level = 'error', code, path = '', message, fix } = problem;
  return {
    level,
    code,
    file: source.file,
    position: positionAt(source.fileText, source.start + utf16Offset(source.text, byte)),
    path: visible(path, MESSAGE_LENGTH_MAX),
    message: visible(message, MESSAGE_LENGTH_MAX),
    fix: visible(fix, MESSAGE_LENGTH_MAX),
  };
}

/** A problem of a file as a whole. */
export function cedarProblem(file: string, problem: ProblemText): Problem {
  return problemAt(wholeText(file, ''), 0, problem);
}

/** The engine's error without its preamble; its help becomes the fix. */
export function engineText(error: DetailedError, fallback: string) {
  const label = error.sourceLocations?.find((location) => location.label !== null)?.label;
  const text = error.message
    .replace(/^failed to parse (?:policy|schema|policy set) from (?:string|JSON): /, '')
    .replace(/^error parsing schema: /, '')
    .replace(/^for policy `[^`]*`, /, '');
  const message = label === undefined || label === null ? text : `${text}; ${label}`;
  const fix = error.help ?? fallback;
  const sentence = fix.charAt(0).toUpperCase() + fix.slice(1);
  return { message, fix: /[.?!]$/.test(sentence) ? sentence : `${sentence}.` };
}

export function errorByte(error: DetailedError): number {
  return error.sourceLocations?.[0]?.start ?? 0;
}

function utf16Offset(text: string, byte: number): number {
  return Buffer.from(text).subarray(0, byte).toString().length;
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
