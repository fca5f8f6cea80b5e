// The CEL of one policy: its expressions are checked with types when it is loaded, and run without them.
import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import type { JsonObject } from '@subluminal/contracts';
import {
  boundedCondition,
  boundedEnvironment,
  celFault,
  celSummary,
  celValue,
} from '../../policy/match/cel.ts';
import { type ConditionPart, unmetParts } from '../../policy/match/when-parts.ts';
import { childrenOf, isTooMuch, surveyed } from '../../policy/match/when-survey.ts';
import type { Endpoint } from '../types.ts';
import {
  celTypeOfValue,
  declareTurnVariables,
  endpointValues,
  type TurnContext,
  VARIABLE_NAMES,
} from './turn-variables.ts';

/** What one evaluation gets: the turn, and the number that `rand()` gives. */
export interface TurnMoment {
  readonly context: TurnContext;
  readonly rand: () => number;
}

type Evaluated = { readonly value: unknown } | { readonly failed: string };

export interface TurnExpression {
  /** `bool`, `string`, `list<string>`, `dyn`, … */
  readonly type: string;
  /** Whether it gives the same for every turn. */
  readonly isConstant: boolean;
  readonly usesRand: boolean;
  /** The variables that it reads, or fields of them. */
  readonly reads: readonly string[];
  evaluate(moment: TurnMoment): Evaluated;
  /** The parts that were not true, and what they saw. */
  explain(moment: TurnMoment): readonly ConditionPart[];
}

export interface ExpressionFault {
  readonly message: string;
  /** Where in the expression. */
  readonly offset: number;
  /** It names an endpoint that is not registered. */
  readonly endpointId?: string;
}

export interface TurnConditions {
  compile(source: string): TurnExpression | { readonly fault: ExpressionFault };
}

const FUNCTIONS = ['rand'];
const NO_MOMENT_RAND = () => 0;

/** Throws nothing: a variable that CEL does not take is in `faults`. */
export function turnConditions(
  variables: JsonObject,
  endpoints: ReadonlyMap<string, Endpoint>,
): { readonly conditions: TurnConditions; readonly faults: ReadonlyMap<string, string> } {
  let rand = NO_MOMENT_RAND;
  const typed = boundedEnvironment();
  declareTurnVariables(typed);
  // Types cost three times as much at run time, and what they would find has been found at load.
  const running = boundedEnvironment();
  for (const name of VARIABLE_NAMES.slice(0, -1)) running.registerVariable(name, 'dyn');
  running.registerConstant('endpoints', 'dyn', endpointValues(endpoints));
  for (const environment of [typed, running]) {
    environment.registerFunction('rand(): double', () => rand());
  }
  const faults = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    const fault = defineVariable([typed, running], name, value);
    if (fault !== undefined) faults.set(name, fault);
  }
  const names = new Set([...VARIABLE_NAMES, ...Object.keys(variables)]);
  const run = (moment: TurnMoment, parsed: ParseResult): unknown => {
    rand = moment.rand;
    try {
      return parsed(moment.context.variables);
    } finally {
      rand = NO_MOMENT_RAND;
    }
  };
  const compile = (source: string) => {
    return compileExpression(source, { typed, running, endpoints, names, run });
  };
  return { conditions: { compile }, faults };
}

const RESERVED = new Set([...VARIABLE_NAMES, 'rand']);

function defineVariable(
  [typed, running]: readonly [Environment, Environment],
  name: string,
  value: JsonObject[string],
): string | undefined {
  if (RESERVED.has(name)) return 'the name belongs to what a turn is';
  if (!/^[A-Za-z_]\w*$/.test(name)) return 'it is no name in CEL';
  try {
    typed.registerConstant(name, celTypeOfValue(value), celValue(value, { nodes: 0 }));
    running.registerConstant(name, 'dyn', celValue(value, { nodes: 0 }));
    typed.parse(name);
    return undefined;
  } catch (cause) {
    return celSummary(cause);
  }
}

interface ExpressionWorld {
  readonly typed: Environment;
  readonly running: Environment;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly names: ReadonlySet<string>;
  readonly run: (moment: TurnMoment, parsed: ParseResult) => unknown;
}

function compileExpression(
  source: string,
  world: ExpressionWorld,
): TurnExpression | { readonly fault: ExpressionFault } {
  try {
    const parsed = world.typed.parse(source);
    const survey = surveyed(parsed.ast, FUNCTIONS);
    if (survey.fault !== undefined) return { fault: survey.fault };
    const checked = parsed.check();
    if (!checked.valid) return { fault: celFault(checked.error) };
    const missing = unknownEndpoint(parsed.ast, world.endpoints);
    if (missing !== undefined) return { fault: missing };
    const bounded = boundedCondition(world.running, source);
    return {
      type: String(checked.type),
      isConstant: isConstant(parsed.ast),
      usesRand: usesRand(parsed.ast),
      reads: readsOf(parsed.ast),
      evaluate: (moment) => {
        if (isTooMuch(survey, moment.context.load))
          return { failed: 'the turn is too large for it' };
        try {
          return { value: world.run(moment, bounded) };
        } catch (cause) {
          return { failed: celSummary(cause) };
        }
      },
      explain: (moment) => explained(source, moment, world),
    };
  } catch (cause) {
    return { fault: celFault(cause) };
  }
}

function explained(
  source: string,
  moment: TurnMoment,
  { running, names, run }: ExpressionWorld,
): readonly ConditionPart[] {
  const { ast } = running.parse(source);
  if (isTooMuch(surveyed(ast, FUNCTIONS), moment.context.load)) return [];
  const evaluate = (part: string) => {
    try {
      return { value: run(moment, boundedCondition(running, part)) };
    } catch {
      return undefined;
    }
  };
  return unmetParts(source, ast, { evaluate, variables: names });
}

function isConstant(node: ASTNode): boolean {
  return node.op !== 'id' && node.op !== 'call' && childrenOf(node).every(isConstant);
}

/** `envelope.repo.repo_id` reads `envelope.repo`; a variable that stands by itself is read whole. */
function readsOf(node: ASTNode): readonly string[] {
  if (node.op === 'id') return [node.args];
  if (node.op === '.') {
    const [owner, field] = node.args;
    if (owner.op === 'id') return [`${owner.args}.${field}`];
  }
  return childrenOf(node).flatMap(readsOf);
}

function usesRand(node: ASTNode): boolean {
  return (node.op === 'call' && node.args[0] === 'rand') || childrenOf(node).some(usesRand);
}

/** `endpoints["typo"]` would fail for every turn. */
function unknownEndpoint(
  node: ASTNode,
  endpoints: ReadonlyMap<string, Endpoint>,
): ExpressionFault | undefined {
  if (node.op === '.' || node.op === '[]') {
    const [owner, key] = node.args;
    const id = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
    const isRegistry = owner.op === 'id' && owner.args === 'endpoints';
    if (isRegistry && typeof id === 'string' && !endpoints.has(id)) {
      return { message: 'no such endpoint', offset: node.start, endpointId: id };
    }
  }
  for (const child of childrenOf(node)) {
    const found = unknownEndpoint(child, endpoints);
    if (found !== undefined) return found;
  }
  return undefined;
}
