// Runs the shared vectors of test/vectors/policy: data that any implementation can run.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import {
  BUNDLE,
  type Bundle,
  check,
  DECISION,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { canonicalize } from '../../json/index.ts';
import { compileBundle, type Snapshot } from '../compile/snapshot.ts';
import type { Call, Identity, Outcome } from '../model/call.ts';
import { jsonObject } from '../testing/scenario.ts';
import { decide, recordResult } from './decide.ts';
import { initialState, type PolicyState } from './verdict.ts';

interface Step {
  readonly at_ms: number;
  readonly server: string;
  readonly tool: string;
  /** {} when absent. */
  readonly args?: JsonObject;
  /** The hash is of `args` all the same, but the rules do not see them. */
  readonly args_omitted?: true;
  readonly identity?: JsonObject;
  readonly risk_class?: readonly string[];
  readonly approved?: readonly string[];
  readonly result?: 'ok' | 'error';
  /** When the result is known; at once unless given. */
  readonly result_at_ms?: number;
  readonly expect: JsonObject;
  readonly risk_class_after?: readonly string[];
  readonly trace?: readonly JsonObject[];
}
interface Case {
  readonly name: string;
  readonly bundle: Bundle;
  readonly profile?: Snapshot['profile'];
  readonly identity: Identity;
  readonly steps: readonly Step[];
}
interface VectorFile {
  readonly about: string;
  readonly cases: readonly Case[];
}

const FOLDER = new URL('../../../../test/vectors/policy/', import.meta.url);
const FILES = readdirSync(FOLDER).map((file) => ({ file, ...readVectors(file) }));

function readVectors(file: string): VectorFile {
  const content: unknown = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
  if (isVectorFile(content)) return content;
  throw new Error(`${file} is not a vector file`);
}

/** The steps are trusted; the bundles are not, they are checked by a test of their own. */
function isVectorFile(content: unknown): content is VectorFile {
  return (
    isObject(content) && typeof content['about'] === 'string' && Array.isArray(content['cases'])
  );
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function canonicalText(value: JsonValue): string {
  const written = canonicalize(JSON.stringify(value));
  if (!written.ok) throw new Error(written.message);
  return written.canonical;
}

function callOf(step: Step, identity: Identity): Call {
  const args = step.args ?? {};
  const { risk_class, approved } = step;
  return {
    identity: { ...identity, ...step.identity },
    server_name: step.server,
    tool_name: step.tool,
    args_hash: sha256(canonicalText(args)),
    ...(step.args_omitted !== true && { args }),
    bytes_in: JSON.stringify(args).length,
    ...(risk_class && { risk_class }),
    ...(approved && { approved }),
  };
}

interface Move {
  readonly step: Step;
  readonly call: Call;
}

function movesOf({ steps, identity }: Case): readonly Move[] {
  return steps.map((step) => ({ step, call: callOf(step, identity) }));
}

function advance(
  snapshot: Snapshot,
  { step, call }: Move,
  state: PolicyState,
): Outcome<PolicyState> {
  const outcome = decide(snapshot, call, state, step.at_ms);
  const { trace } = outcome;
  if (step.result === undefined) return outcome;
  const ended = { call, result: step.result, trace, nowMs: step.result_at_ms ?? step.at_ms };
  return { ...outcome, state: recordResult(snapshot, ended, outcome.state) };
}

/** What a step tells the outside, without the state. */
function told({ decision, trace, risk_class }: Outcome<PolicyState>) {
  return { decision, trace, risk_class };
}

function suggested(decision: unknown): JsonValue | undefined {
  const hint: unknown = isObject(decision) ? decision['hint'] : undefined;
  const args: unknown = isObject(hint) ? hint['suggested_args'] : undefined;
  return args === undefined || args === null ? args : jsonObject(JSON.stringify(args));
}

function expectStep(step: Step, outcome: Outcome<PolicyState>): void {
  expect(outcome.decision).toMatchObject(step.expect);
  // A suggestion is compared whole: what should have been dropped must not be there.
  const given = suggested(outcome.decision);
  const wanted = suggested(step.expect) ?? given;
  expect(given && canonicalText(given)).toBe(wanted && canonicalText(wanted));
  expect(outcome.risk_class).toEqual(step.risk_class_after ?? outcome.risk_class);
  expect(outcome.trace).toMatchObject(step.trace ?? outcome.trace);
  expect(check(DECISION, outcome.decision)).toEqual([]);
}

describe.each(FILES)('$file', ({ cases }) => {
  it.each(cases)('$name', async (one) => {
    const { bundle, profile = 'production' } = one;
    expect(check(BUNDLE, bundle)).toEqual([]);
    const snapshot = await compileBundle(bundle, { sha256, profile });
    let state = initialState(snapshot);
    for (const move of movesOf(one)) {
      const outcome = advance(snapshot, move, state);
      expect(told(advance(snapshot, move, state))).toEqual(told(outcome));
      expectStep(move.step, outcome);
      state = outcome.state;
    }
  });
});

describe('vectors', () => {
  it('cover every rule kind and every action', () => {
    verifies('T-B', 'T-A2.1', 'SL-9.2', 'SL-9.3');
    const all = FILES.flatMap(({ cases }) => cases);
    const kinds = new Set(all.flatMap(({ bundle }) => bundle.rules.map(({ kind }) => kind)));
    expect(kinds).toEqual(
      new Set(['allow', 'approval', 'breaker', 'budget', 'dedupe', 'deny', 'rate_limit', 'tag']),
    );
    const actions = new Set(all.flatMap(({ steps }) => steps.map((step) => step.expect['action'])));
    expect(actions).toEqual(
      new Set(['ALLOW', 'BLOCK', 'REJECT_WITH_HINT', 'TERMINATE_RUN', 'THROTTLE']),
    );
  });

  it('give the same outcomes again, from any state that was reached before', async () => {
    verifies('T-A2.5', 'T-A2.2', 'IP-3.1');
    for (const { cases } of FILES) {
      for (const one of cases) {
        const { bundle, profile = 'production' } = one;
        const snapshot = await compileBundle(bundle, { sha256, profile });
        const states = [initialState(snapshot)];
        const moves = movesOf(one);
        const first = moves.map((move) => {
          const outcome = advance(snapshot, move, states.at(-1) ?? initialState(snapshot));
          states.push(outcome.state);
          return told(outcome);
        });
        // Backwards, so that every state is read after others have grown out of it.
        const again = moves
          .map((move, index) => ({ move, state: states[index] ?? initialState(snapshot) }))
          .toReversed()
          .map(({ move, state }) => told(advance(snapshot, move, state)))
          .toReversed();
        expect(again).toEqual(first);
      }
    }
  });

  it('are the same for a policy that is compiled again', async () => {
    for (const { cases } of FILES) {
      for (const { bundle } of cases) {
        const [one, two] = [
          await compileBundle(bundle, { sha256 }),
          await compileBundle(bundle, { sha256 }),
        ];
        expect(one.ref).toEqual(two.ref);
      }
    }
  });
});
