// `when:` conditions in CEL over the call and the identity. Loaded only when a bundle has one.
import type { ASTNode, ParseResult } from '@marcbachmann/cel-js';
import type { CommandOutline } from '../../shell/index.ts';
import type { Call } from '../model/call.ts';
import { boundedCondition, boundedEnvironment, celFault, celMap, celSummary } from './cel.ts';
import { type ConditionPart, unmetParts } from './when-parts.ts';
import { type ConditionSurvey, isTooMuch, surveyed } from './when-survey.ts';

/** What a condition sees; built once per call, and only when some condition is reached. */
export interface WhenContext {
  readonly variables: { readonly [name: string]: unknown };
  readonly nodes: number;
  readonly bytes: number;
  /** Grows while tag rules are evaluated. */
  readonly riskClass: readonly string[];
}
type WhenOutcome = boolean | { readonly failed: string };
export type WhenTest = (context: WhenContext) => WhenOutcome;
export type WhenResult =
  | { readonly ok: true; readonly test: WhenTest; readonly needsArgs: boolean }
  | { readonly ok: false; readonly message: string; readonly offset: number };

const environment = boundedEnvironment()
  .registerVariable('call', {
    schema: {
      server_name: 'string',
      tool_name: 'string',
      args_hash: 'string',
      bytes_in: 'int',
      risk_class: 'list<string>',
    },
  })
  .registerVariable('identity', {
    schema: {
      run_id: 'string',
      agent_id: 'string',
      client: 'string',
      env: 'string',
      principal: 'string',
      workload: 'map<string, dyn>',
    },
  })
  .registerVariable('command', {
    schema: {
      programs: 'list<string>',
      reads: 'list<string>',
      writes: 'list<string>',
      hosts: 'list<string>',
      paths: 'list<string>',
      opaque: 'bool',
    },
  })
  .registerVariable('args', 'map<string, dyn>');

const VARIABLES: ReadonlySet<string> = new Set(['args', 'call', 'command', 'identity']);

/** Compiles one condition; type errors, unknown names and unsafe patterns are found here. */
export function compileWhen(source: string): WhenResult {
  try {
    const parsed = environment.parse(source);
    const survey = surveyed(parsed.ast);
    if (survey.fault !== undefined) return { ok: false, ...survey.fault };
    const checked = parsed.check();
    if (!checked.valid) return { ok: false, ...celFault(checked.error) };
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { ok: false, message: `it gives ${checked.type}, not true or false`, offset: 0 };
    }
    return {
      ok: true,
      test: testOf(boundedCondition(environment, source), survey),
      needsArgs: survey.readsArgs,
    };
  } catch (cause) {
    return { ok: false, ...celFault(cause) };
  }
}

/** The tree of a condition that has been found valid, for lint. */
export function parseWhen(source: string): ASTNode {
  return environment.parse(source).ast;
}

/** Why a condition was not true: the parts that were wrong, and what they saw. */
export function explainWhen(source: string, context: WhenContext): readonly ConditionPart[] {
  const { ast } = environment.parse(source);
  if (isTooMuch(surveyed(ast), loadOf(context))) return [];
  const evaluate = (expression: string) => {
    try {
      const value: unknown = boundedCondition(environment, expression)(context.variables);
      return { value };
    } catch {
      return undefined;
    }
  };
  return unmetParts(source, ast, { evaluate, variables: VARIABLES });
}

function loadOf({ nodes, bytes, riskClass }: WhenContext) {
  return { items: nodes + riskClass.length, bytes };
}

function testOf(run: ParseResult, survey: ConditionSurvey): WhenTest {
  return (context) => {
    if (isTooMuch(survey, loadOf(context))) return { failed: 'the arguments are too large for it' };
    try {
      const result: unknown = run(context.variables);
      return typeof result === 'boolean' ? result : { failed: 'it gave no true or false' };
    } catch (cause) {
      return { failed: celSummary(cause) };
    }
  };
}

/** Makes the variables for one call. Whole numbers become CEL ints, as people expect. */
export function whenContext(
  call: Call,
  riskClass: readonly string[],
  outline?: CommandOutline,
): WhenContext {
  const counter = { nodes: 0 };
  const { identity } = call;
  const command = outline && commandVariable(outline);
  const texts = command === undefined ? [] : textsOf(command);
  return {
    variables: {
      ...(command && { command }),
      args: celMap(call.args ?? {}, counter),
      call: {
        server_name: call.server_name,
        tool_name: call.tool_name,
        args_hash: call.args_hash,
        bytes_in: BigInt(call.bytes_in),
        risk_class: riskClass,
      },
      identity: {
        run_id: identity.run_id,
        agent_id: identity.agent_id,
        client: identity.client,
        env: identity.env,
        principal: identity.principal ?? '',
        workload: celMap(identity.workload ?? {}, counter),
      },
    },
    nodes: counter.nodes + texts.length,
    bytes: Math.max(call.bytes_in, counter.nodes) + texts.join('').length,
    riskClass,
  };
}

type CommandVariable = Omit<CommandOutline, 'programs' | 'trees' | 'opaque'> & {
  readonly programs: readonly string[];
  readonly opaque: boolean;
};

function commandVariable({ programs, trees, opaque, ...lists }: CommandOutline): CommandVariable {
  return {
    ...lists,
    programs: programs.map(({ name }) => name),
    // All that is below a folder, as `match.command.reads` takes it.
    reads: [...lists.reads, ...trees.map((folder) => `${folder}/**`)],
    opaque: opaque.length > 0,
  };
}

/** A command may name more than it is long, by lists in braces. */
function textsOf({ programs, reads, writes, hosts, paths }: CommandVariable): readonly string[] {
  return [programs, reads, writes, hosts, paths].flat();
}
