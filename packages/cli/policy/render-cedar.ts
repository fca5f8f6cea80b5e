// What Cedar policies said of a call, as a person reads it.
import type { CedarExplanation, CedarPolicy } from '@subluminal/plane/cedar';
import type { Colors, Output } from '../terminal/io.ts';
import { harmless, wrapped } from '../terminal/text.ts';
import { outvotedIn } from './explain-cedar.ts';

const HASH_SHOWN = 19;
const INDENT = 6;

export function renderCedarHead(
  { hash, policyCount }: Pick<CedarExplanation, 'hash' | 'policyCount'>,
  { colors }: Output,
): string {
  const count = policyCount === 1 ? '1 policy' : `${policyCount} policies`;
  const facts = `${count} · ${hash.slice(0, HASH_SHOWN)}…`;
  return `${colors.bold('cedar')}  ${colors.dim(facts)}\n`;
}

/** `spared`: nothing is enforced here, so whoever decides only would have. */
export function renderCedar(answer: CedarExplanation, spared: boolean, output: Output): string {
  const { colors } = output;
  const { decision, cause, deciding, errors } = answer;
  const allows = decision === 'allow';
  const mark = spared && !allows ? '▷' : '▶';
  const refused = spared ? colors.yellow : colors.red;
  const paint = allows ? colors.green : refused;
  const lines =
    cause === 'forbid_failed' || deciding.length === 0
      ? [paint(`    ${mark} cedar: ${harmless(answer.message ?? decision)}`)]
      : deciding.flatMap((policy) => policyLines(policy, { mark, paint }, output));
  const outvoted = outvotedIn(answer).map((policy) => {
    return colors.dim(`    · ${nameOf(policy)}, which is outvoted`);
  });
  const failed = errors.map(({ policyId, message }) => {
    return colors.yellow(`    · cedar ${harmless(policyId)} failed: ${harmless(message)}`);
  });
  return `${[...lines, ...outvoted, ...failed].join('\n')}\n`;
}

interface Look {
  readonly mark: string;
  readonly paint: Colors['red'];
}

function policyLines(policy: CedarPolicy, { mark, paint }: Look, output: Output) {
  const { message } = policy;
  const words = message === null ? [] : wrapped(harmless(message), output.columns - INDENT);
  const head = `    ${mark} ${nameOf(policy)}`;
  return [head, ...words.map((line) => ' '.repeat(INDENT) + line)].map((line) => paint(line));
}

function nameOf({ id, effect, file, position }: CedarPolicy): string {
  return harmless(`cedar ${id}  ${effect}  ${file}:${position.line}`);
}
