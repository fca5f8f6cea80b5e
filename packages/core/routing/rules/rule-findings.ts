// What the shape of a policy cannot say: verbs that need a pool, pools that are not there, ids that are taken.
import type { Path } from '../../source/problem.ts';
import { nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';
import { PRIVATE_POOL, ruleEffect, STRONG_POOL, type WrittenTurnRule } from './policy-file.ts';

export interface PolicyFinding {
  readonly code:
    | 'SUB_GATEWAY_FIELD'
    | 'SUB_GATEWAY_VALUE'
    | 'SUB_GATEWAY_REFERENCE'
    | 'SUB_GATEWAY_DUPLICATE'
    | 'SUB_GATEWAY_CONDITION';
  readonly path: Path;
  readonly message: string;
  readonly fix: string;
  /** How far inside the string at `path`. */
  readonly inside?: number;
}

/** All that is wrong with the verbs and pools of one rule. */
export function ruleFindings(
  rule: WrittenTurnRule,
  path: Path,
  pools: ReadonlySet<string>,
): readonly PolicyFinding[] {
  const effect = ruleEffect(rule);
  const does = [effect.primary, ...effect.modifiers, ...effect.sideEffects, ...(rule.emit ?? [])];
  if (does.every((part) => part === undefined)) {
    const message = `the rule ${quote(rule.id)} does nothing`;
    return [field(path, message, 'Add an `action`, such as `action: route`.')];
  }
  return [
    ...poolFindings(rule, path),
    ...neededPools(rule, path).flatMap((need) => missingPool(need, pools)),
  ];
}

/** Whether each pool is given where it is needed, and only there. */
function poolFindings(rule: WrittenTurnRule, path: Path): readonly PolicyFinding[] {
  const { action, model_pool, shadow_pool } = rule;
  const { sideEffects, shadowPool } = ruleEffect(rule);
  const found: PolicyFinding[] = [];
  if (action === 'route' && model_pool === undefined) {
    found.push(field(path, '`route` needs a `model_pool`', 'Add `model_pool: standard`.'));
  }
  if (
    action === 'route_to_private_model' &&
    model_pool !== undefined &&
    model_pool !== PRIVATE_POOL
  ) {
    const message = `\`route_to_private_model\` always goes to \`${PRIVATE_POOL}\``;
    const fix = `Remove \`model_pool\`, or write \`action: route\`.`;
    found.push(value([...path, 'model_pool'], message, fix));
  }
  const takesPool = ['route', 'route_to_private_model', 'require_approval', 'shadow_eval'];
  if (model_pool !== undefined && !takesPool.some((verb) => verb === action)) {
    const message = `\`model_pool\` does nothing without an action that routes`;
    found.push(value([...path, 'model_pool'], message, 'Remove it, or write `action: route`.'));
  }
  const isShadow = sideEffects.includes('shadow_eval');
  if (isShadow && shadowPool === undefined) {
    const name = action === 'shadow_eval' ? 'model_pool' : 'shadow_pool';
    found.push(field(path, '`shadow_eval` needs a pool', `Add \`${name}: strong\`.`));
  }
  if (shadow_pool !== undefined && !isShadow) {
    const message = '`shadow_pool` does nothing without `shadow_eval`';
    const fix = 'Remove it, or add `side_effects: [shadow_eval]`.';
    found.push(value([...path, 'shadow_pool'], message, fix));
  }
  if (action === 'shadow_eval' && model_pool !== undefined && shadow_pool !== undefined) {
    const message = '`shadow_eval` has two pools';
    found.push(value([...path, 'shadow_pool'], message, 'Remove one of the two.'));
  }
  return found;
}

interface NeededPool {
  readonly name: string;
  readonly path: Path;
  /** The verb that goes there by itself. */
  readonly verb?: string;
}

function neededPools(rule: WrittenTurnRule, path: Path): readonly NeededPool[] {
  const { primary, modifiers } = ruleEffect(rule);
  const needed: NeededPool[] = [];
  for (const name of ['model_pool', 'shadow_pool'] as const) {
    const pool = rule[name];
    if (pool !== undefined) needed.push({ name: pool, path: [...path, name] });
  }
  if (primary === 'route_to_private_model' && rule.model_pool === undefined) {
    needed.push({ name: PRIVATE_POOL, path: [...path, 'action'], verb: primary });
  }
  if (modifiers.includes('escalate_to_strong_model')) {
    const verb = 'escalate_to_strong_model';
    needed.push({ name: STRONG_POOL, path: [...path, 'action'], verb });
  }
  return needed;
}

export function missingPool(
  { name, path, verb }: NeededPool,
  pools: ReadonlySet<string>,
): readonly PolicyFinding[] {
  if (pools.has(name)) return [];
  const why = verb === undefined ? '' : `, and \`${verb}\` goes there`;
  const message = `there is no pool ${quote(name)}${why}`;
  const meant = verb === undefined ? nearest(name, [...pools]) : undefined;
  const fix =
    meant === undefined
      ? `Add \`${name}\` to pools.yaml; there are ${[...pools].join(', ') || 'none'}.`
      : `Write \`${meant}\`.`;
  return [{ code: 'SUB_GATEWAY_REFERENCE', path, message, fix }];
}

/** Rules that share an id. */
export function duplicateIds(rules: readonly WrittenTurnRule[]): readonly PolicyFinding[] {
  const first = new Map<string, number>();
  return rules.flatMap(({ id }, index): readonly PolicyFinding[] => {
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, index);
      return [];
    }
    const message = `the id ${quote(id)} is already taken by rules[${earlier}]`;
    const fix = 'Give each rule an id of its own.';
    return [{ code: 'SUB_GATEWAY_DUPLICATE', path: ['rules', index, 'id'], message, fix }];
  });
}

function field(path: Path, message: string, fix: string): PolicyFinding {
  return { code: 'SUB_GATEWAY_FIELD', path, message, fix };
}

function value(path: Path, message: string, fix: string): PolicyFinding {
  return { code: 'SUB_GATEWAY_VALUE', path, message, fix };
}
