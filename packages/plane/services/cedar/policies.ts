// Pieces of text → policies with their ids and their words, or what is wrong with them.
import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { nearest, type Problem, visible } from '@subluminal/core/policy';
import type { Engine } from './engine.ts';
import { byteOf, type Piece, positionAt, problemAt, wordsOf } from './problems.ts';
import type { CedarPolicy } from './types.ts';

/** A policy as written, with the id that it has unless it brings its own. */
export interface PolicySource {
  readonly id: string;
  readonly piece: Piece;
}

export interface ParsedPolicy extends CedarPolicy {
  readonly piece: Piece;
  readonly json: PolicyJson;
}

export interface PoliciesRead {
  readonly policies: readonly ParsedPolicy[];
  readonly problems: readonly Problem[];
}

const POLICIES_MAX = 2_000;
const ID_LENGTH_MAX = 200;
const WORDS_LENGTH_MAX = 1_000;
const ANNOTATIONS = ['id', 'message', 'hint', 'reason_code'];

export function readPolicies(engine: Engine, sources: readonly PolicySource[]): PoliciesRead {
  const problems: Problem[] = [];
  const byId = new Map<string, ParsedPolicy>();
  for (const [index, source] of sources.entries()) {
    if (index >= POLICIES_MAX) {
      problems.push(tooMany(source.piece));
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
  { id, piece }: PolicySource,
  problems: Problem[],
): ParsedPolicy | undefined {
  const answer = engine.policyToJson(piece.text);
  if (answer.type === 'failure') {
    for (const error of answer.errors) {
      const words = wordsOf(error, 'Correct the policy here');
      problems.push(
        problemAt(piece, byteOf(error), { code: 'SUB_CEDAR_SYNTAX', path: id, ...words }),
      );
    }
    return undefined;
  }
  const annotations = new Map(Object.entries(answer.json.annotations ?? {}));
  const given = annotations.get('id');
  const name = given === undefined || given === '' ? id : given;
  problems.push(...annotationProblems(annotations, { id: name, piece }));
  const text = (key: string) => {
    const words = annotations.get(key);
    return words === undefined || words === '' ? null : words.slice(0, WORDS_LENGTH_MAX);
  };
  return {
    id: name,
    effect: answer.json.effect,
    file: piece.file,
    position: positionAt(piece.fileText, piece.start),
    message: text('message'),
    hint: text('hint'),
    reasonCode: text('reason_code'),
    piece,
    json: answer.json,
  };
}

function annotationProblems(
  annotations: ReadonlyMap<string, string>,
  { id, piece }: PolicySource,
): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (level: 'error' | 'warning', message: string, fix: string) => {
    problems.push(problemAt(piece, 0, { code: 'SUB_CEDAR_POLICY', level, path: id, message, fix }));
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

function tooMany(piece: Piece): Problem {
  const message = `there are more than ${POLICIES_MAX} policies`;
  return problemAt(piece, 0, {
    code: 'SUB_CEDAR_FILES',
    message,
    fix: 'Put some of them into one.',
  });
}

function sameId(policy: ParsedPolicy, first: ParsedPolicy): Problem {
  const place = `${first.file}:${first.position.line}`;
  const message = `the id \`${policy.id}\` is also that of the policy at ${place}`;
  const fix = 'Give one of them another `@id("…")`.';
  return problemAt(policy.piece, 0, { code: 'SUB_CEDAR_POLICY', path: policy.id, message, fix });
}

/** Which parts of a call the policies look at; what can't be told counts as looked at. */
export function usesOf(policies: readonly ParsedPolicy[]): {
  readonly args: boolean;
  readonly flat: boolean;
} {
  const conditions = policies.map(({ json }) => JSON.stringify(json.conditions)).join('\n');
  // The context as a value, not by one of its names.
  const whole = /(?<!"left":)\{"Var":"context"\}|"[=!]=":\{"left":\{"Var":"context"\}/.test(
    conditions,
  );
  const flat = whole || conditions.includes('"flat"');
  return { flat, args: flat || /"(?:args|nulls)"/.test(conditions) };
}
