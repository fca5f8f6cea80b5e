// What a `when:` condition may call, and how much work it may make of what an agent sends.
import type { ASTNode } from '@marcbachmann/cel-js';
import { compileRegex } from '../../patterns/regex.ts';

/** Gives the tree of a valid condition; passed in, so that the engine stays unloaded until then. */
export type ParseWhen = (source: string) => ASTNode;

interface ConditionFault {
  readonly message: string;
  readonly offset: number;
}

export interface ConditionSurvey {
  /** How deep loops nest, and how many there are. */
  readonly loopDepth: number;
  readonly loops: number;
  /** Items written out in the condition itself. */
  readonly literals: number;
  /** Additions may double a text or a list each time. */
  readonly additions: number;
  readonly splits: number;
  readonly readsArgs: boolean;
  readonly fault: ConditionFault | undefined;
}

/** What a condition is applied to, in numbers. */
interface Load {
  readonly items: number;
  readonly bytes: number;
}

const LOOP_DEPTH_MAX = 3;
/** An agent chooses the arguments, and must not choose how long we think. */
const STEPS_MAX = 50_000_000;
/** A split makes many items of one text, so it has a size of its own. */
export const PARTS_MAX = 1_000;

const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** Functions whose time is bounded by their input. The rest of the library stays out. */
const FUNCTIONS = new Set([
  'bool',
  'double',
  'dyn',
  'has',
  'int',
  'size',
  'string',
  'type',
  'uint',
]);
const METHODS = new Set([
  ...LOOPS,
  'contains',
  'endsWith',
  'lowerAscii',
  'matches',
  'size',
  'split',
  'startsWith',
  'substring',
  'trim',
  'upperAscii',
]);

/** Walks the tree once. `functions`: what may be called beside those that every condition has. */
export function surveyed(root: ASTNode, functions: readonly string[] = []): ConditionSurvey {
  const found = { loopDepth: 0, loops: 0, literals: 0, additions: 0, splits: 0, readsArgs: false };
  let fault: ConditionFault | undefined;
  const visit = (node: ASTNode, depth: number): void => {
    fault ??= callFault(node, functions);
    const method = node.op === 'rcall' ? node.args[0] : undefined;
    const loops = method !== undefined && LOOPS.has(method);
    const inside = loops ? depth + 1 : depth;
    found.loopDepth = Math.max(found.loopDepth, inside);
    if (loops) found.loops += 1;
    if (method === 'split') found.splits += 1;
    if (node.op === '+') found.additions += 1;
    if (node.op === 'list' || node.op === 'map') found.literals += node.args.length;
    if (node.op === 'id' && (node.args === 'args' || node.args === 'command')) {
      found.readsArgs = true;
    }
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(root, 0);
  const survey = { ...found, fault };
  return { ...survey, fault: fault ?? sizeFault(survey, root) };
}

function callFault(node: ASTNode, functions: readonly string[]): ConditionFault | undefined {
  if (node.op !== 'call' && node.op !== 'rcall') return undefined;
  const [name] = node.args;
  const known = node.op === 'call' ? new Set([...FUNCTIONS, ...functions]) : METHODS;
  if (!known.has(name)) {
    const message = `\`${name}\` is not available; there are ${[...known].join(', ')}`;
    return { message, offset: node.pos };
  }
  return node.op === 'rcall' && name === 'matches'
    ? patternFault(node.args[2][0], node)
    : undefined;
}

function patternFault(pattern: ASTNode | undefined, node: ASTNode): ConditionFault | undefined {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    return { message: '`matches` needs its pattern written out as a string', offset: node.start };
  }
  const compiled = compileRegex(pattern.args, 'text');
  return compiled.ok ? undefined : { message: compiled.message, offset: pattern.start };
}

function sizeFault(survey: ConditionSurvey, root: ASTNode): ConditionFault | undefined {
  if (survey.loopDepth > LOOP_DEPTH_MAX) {
    return { message: `loops nest deeper than ${LOOP_DEPTH_MAX}`, offset: root.start };
  }
  if (!isTooMuch(survey, { items: 0, bytes: 1 })) return undefined;
  return { message: 'its own lists are too long for its loops', offset: root.start };
}

/** Whether a condition could take too long over this much data. */
export function isTooMuch(survey: ConditionSurvey, load: Load): boolean {
  const { loopDepth, loops, literals, additions, splits } = survey;
  if (loopDepth === 0 && additions === 0) return false;
  const parts = splits * Math.min(PARTS_MAX, load.bytes + 1);
  const growth = 1 + additions;
  const rounds = ((load.items + literals + parts) * growth) ** loopDepth * Math.max(1, loops);
  return rounds * growth * Math.max(1, load.bytes) > STEPS_MAX;
}

export function childrenOf(node: ASTNode): readonly ASTNode[] {
  const found: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const item of value) collect(item);
  };
  collect(node.args);
  return found;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
