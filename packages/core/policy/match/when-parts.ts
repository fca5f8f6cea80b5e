// Which parts of a `when:` condition did not hold, and what they saw. For explanations only.
import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf } from './when-survey.ts';

export interface ConditionPart {
  /** As it was written. */
  readonly expression: string;
  /** True only where it stands behind a `!`; null where it could not be evaluated. */
  readonly gave: boolean | null;
  readonly values: readonly SeenValue[];
}

interface SeenValue {
  /** As it was written, such as `args.path`. */
  readonly name: string;
  /** Undefined where it is missing. */
  readonly value: unknown;
}

/** Evaluates a part of the condition by itself; undefined where it fails. */
type EvaluatePart = (expression: string) => { readonly value: unknown } | undefined;

interface ConditionWorld {
  readonly evaluate: EvaluatePart;
  /** The names whose fields are shown. */
  readonly variables: ReadonlySet<string>;
}

const PARTS_MAX = 8;
const VALUES_MAX = 6;

/** The smallest parts that made a condition false, or made it fail. */
export function unmetParts(
  source: string,
  root: ASTNode,
  world: ConditionWorld,
): readonly ConditionPart[] {
  const { evaluate } = world;
  const found: ConditionPart[] = [];
  const textOf = (node: ASTNode): string => source.slice(node.start, node.end);
  const gives = (node: ASTNode): unknown => evaluate(textOf(node))?.value;
  /** `wanted`: what the node should have given. */
  const visit = (node: ASTNode, wanted: boolean): void => {
    if (found.length >= PARTS_MAX) return;
    if (node.op === '!_') return visit(node.args, !wanted);
    if (node.op === '&&' || node.op === '||') {
      for (const side of operandsOf(node)) if (gives(side) !== wanted) visit(side, wanted);
      return;
    }
    if (node.op === '?:') {
      const [test, yes, no] = node.args;
      const chosen = gives(test);
      if (typeof chosen !== 'boolean') return visit(test, true);
      return visit(chosen ? yes : no, wanted);
    }
    const result = gives(node);
    const gave = typeof result === 'boolean' ? result : null;
    found.push({ expression: textOf(node), gave, values: valuesIn(node, textOf, world) });
  };
  visit(root, true);
  return found;
}

/** The sides of `a && b && c`, so that none is evaluated again with each that stands behind it. */
function operandsOf(root: ASTNode): readonly ASTNode[] {
  const found: ASTNode[] = [];
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.op === root.op && (node.op === '&&' || node.op === '||'))
      left.push(...node.args.toReversed());
    else found.push(node);
  }
  return found;
}

/** The variables that an expression reads, each with its fields: `args.user.name`. */
function valuesIn(
  root: ASTNode,
  textOf: (node: ASTNode) => string,
  { evaluate, variables }: ConditionWorld,
): readonly SeenValue[] {
  const found = new Map<string, unknown>();
  const visit = (node: ASTNode): void => {
    if (found.size >= VALUES_MAX) return;
    if (isRead(node, variables)) {
      const name = textOf(node);
      if (!found.has(name)) found.set(name, evaluate(name)?.value);
      return;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Whether a node is a field of a variable, or a field of such a field. */
function isRead(node: ASTNode, variables: ReadonlySet<string>): boolean {
  if (node.op !== '.' && node.op !== '[]') return false;
  const [owner, key] = node.args;
  if (typeof key !== 'string' && key.op !== 'value') return false;
  return owner.op === 'id' ? variables.has(owner.args) : isRead(owner, variables);
}
