// Renders explained decisions for a terminal.
import type { Decision } from '@subluminal/contracts';
import { type ExplainedRule, type Explanation, sectionsOf } from '@subluminal/core/policy';
import type { CedarExplanation, CedarPolicy } from '@subluminal/plane/cedar';
import { decisionMark, decisionPaint } from '../terminal/decision-look.ts';
import type { Colors, Output } from '../terminal/io.ts';
import {
  displayWidth,
  durationText,
  hanging,
  harmless,
  plural,
  shortened,
  wrapped,
} from '../terminal/text.ts';
import { outvotedIn } from './explain-cedar.ts';
import type { ExplainedStage } from './explain-gates.ts';
import type { Policy } from './load-policy.ts';

interface ExplainedCall {
  readonly from: number;
  readonly to: number;
  readonly argsText: string;
  readonly explanation: Explanation;
  readonly gates: readonly ExplainedStage[];
}

export interface ExplainedCounts {
  readonly calls: number;
  readonly allowed: number;
  /** Those that wait for a person, or pass when tried again after one has agreed. */
  readonly asked: number;
  readonly refused: number;
}

const RULE_ID_WIDTH_MAX = 32;
const HASH_SHOWN = 12;
const ARGS_SHOWN_MAX = 200;
/** Narrower than this, the reason of a rule gets lines of its own. */
const WHY_COLUMNS_MIN = 20;
const WHY_INDENT = 8;
const LEGEND = '▶ decides or asks   ▷ would have decided   + counts or tags   · does not apply';

/** Which policy decides, and how far it goes. */
export function renderHead({ snapshot, modeOverridden }: Policy, { colors }: Output): string {
  const { document, ref, profile } = snapshot;
  const name = harmless(`${document.policy_id} ${document.version}`);
  const facts = [
    plural(document.rules.length, 'rule'),
    `mode ${modeOverridden ? 'overridden to ' : ''}${document.mode}`,
    `profile ${profile}`,
    `sha256 ${ref.policy_hash.slice(0, HASH_SHOWN)}…`,
  ];
  const sections = sectionsOf(snapshot).map((section) => `\`${section}\``);
  const left =
    sections.length === 0
      ? ''
      : `\nAnswers of servers are not known here: ${sections.join(' and ')} may stop more.\n`;
  return `${colors.bold(name)}  ${colors.dim(facts.join(' · '))}\n${left}`;
}

export function renderExplained(explained: ExplainedCall, output: Output): string {
  const { explanation } = explained;
  const { decision } = explanation;
  const lines = [
    callLine(explained, output),
    ...block(decisionText(decision, output.colors), 2, output),
    ...adviceOf(decision).flatMap(([label, text]) => labelled(label, text, output)),
    ...(explanation.selected ? [] : labelled('for', explanation.selector, output)),
    '',
    ...ruleLines(explained, output),
    '',
  ];
  return lines.join('\n');
}

function callLine({ from, to, argsText, explanation }: ExplainedCall, output: Output): string {
  const { colors, columns } = output;
  const { server_name, tool_name, subject } = explanation.call;
  const number = from === to ? `call ${from}` : `calls ${from}–${to}`;
  const what = subject === undefined ? '' : ` (a ${subject})`;
  const name = harmless(`${server_name} / ${tool_name}`) + what;
  const room = Math.max(24, columns - number.length - displayWidth(name) - 4);
  const args = shortened(harmless(argsText), Math.min(room, ARGS_SHOWN_MAX));
  return `${colors.dim(number)}  ${colors.bold(name)}  ${colors.dim(args)}`;
}

function decisionText(decision: Decision, colors: Colors): string {
  const { would, reason_code } = decision;
  const said = would ?? decision;
  const by = said.rule_id === null ? '' : ` by ${harmless(said.rule_id)}`;
  const reason = colors.dim(`[${harmless(said.reason_code)}]`);
  const rest = `${by}: ${harmless(said.summary)} ${reason}`;
  if (would !== undefined) {
    const spared = colors.bold(marked('ALLOW', colors));
    const code = colors.dim(`[${harmless(reason_code)}]`);
    return `${spared} ${code}, but enforced it would be ${marked(would.action, colors)}${rest}`;
  }
  const { action, approval } = decision;
  // With an approval it is neither allowed nor refused: a person decides.
  const asks = action !== 'ALLOW' && approval !== undefined;
  const head = asks ? marked('ASK', colors, 'ASKS A PERSON') : marked(action, colors);
  return colors.bold(head) + rest;
}

function marked(decision: string, colors: Colors, words = decision): string {
  return decisionPaint(decision, colors)(`${decisionMark(decision)} ${words}`);
}

/** What the agent gets besides the refusal. */
function adviceOf({ hint, backoff_ms, approval, terminate }: Decision): [string, string][] {
  const advice: [string, string][] = [];
  if (hint !== undefined) {
    advice.push(['hint', hint.hint_text]);
    const { suggested_args: args, retry_advice: retry } = hint;
    if (args !== null) advice.push(['use args', JSON.stringify(args)]);
    // A call that is held open gets its answer without a retry.
    if (retry !== null && approval?.wait !== 'hold') advice.push(['retry', retry]);
  }
  if (backoff_ms !== undefined) advice.push(['wait', durationText(backoff_ms)]);
  if (approval !== undefined) {
    const { wait, timeout_ms } = approval;
    const within = durationText(timeout_ms);
    const how =
      wait === 'hold'
        ? `the request is held open until a person answers, at most ${within}; the agent need not retry`
        : `the retry passes once a person has approved, within ${within}`;
    advice.push(['person', how]);
  }
  if (terminate !== undefined) advice.push(['ends run', terminate.terminate_code]);
  return advice;
}

function labelled(label: string, text: string, output: Output): readonly string[] {
  return hanging(`    ${output.colors.cyan(label.padEnd(8))}  `, text, output.columns);
}

function block(text: string, indent: number, output: Output): readonly string[] {
  return wrapped(text, output.columns - indent).map((line) => ' '.repeat(indent) + line);
}

/** A line of the table: a rule, or a stage of gates. */
interface Row {
  readonly name: string;
  readonly kind: string;
  readonly outcome: ExplainedRule['outcome'] | ExplainedStage['outcome'];
  readonly why: string;
}

/** In the order in which a call meets them: the surface, the rules, the content. */
function rowsOf({ explanation, gates }: ExplainedCall): readonly Row[] {
  const rows = (wanted: ExplainedStage['stage']) =>
    gates
      .filter((one) => one.stage === wanted && !isOrdinary(one))
      .map(({ stage, gates: named, outcome, why }) => {
        const list = named.join(', ');
        const words = list === stage ? why : `${list}: ${why}`;
        return { name: stage, kind: 'gate', outcome, why: words };
      });
  const rules = explanation.rules.map((rule) => ({ ...rule, name: rule.rule_id }));
  return [...rows('surface'), ...rules, ...rows('content')];
}

/** Self-protection is always there, and worth a line only when it acts. */
function isOrdinary({ gates, outcome }: ExplainedStage): boolean {
  return outcome === 'passed' && gates.join() === 'self-protection';
}

function ruleLines(explained: ExplainedCall, output: Output): readonly string[] {
  const { rules, decision } = explained.explanation;
  const rows = rowsOf(explained);
  const none = rules.length === 0 ? ['    The policy has no rules.'] : [];
  const names = rows.map(({ name }) => shortened(harmless(name), RULE_ID_WIDTH_MAX));
  const width = Math.max(0, ...names.map(displayWidth));
  const kindWidth = Math.max(0, ...rows.map(({ kind }) => kind.length));
  const beside = width + kindWidth + 10;
  const below = output.columns - beside < WHY_COLUMNS_MIN;
  const indent = below ? WHY_INDENT : beside;
  const spared = decision.would !== undefined;
  const lines = rows.flatMap((row, index) => {
    const { colors, columns } = output;
    const name = names[index] ?? '';
    const padded = name + ' '.repeat(width - displayWidth(name));
    const { mark, paint } = lookOf(row, spared, colors);
    const why = wrapped(harmless(row.why), Math.max(WHY_COLUMNS_MIN, columns - indent));
    const head = `    ${mark} ${padded}  ${row.kind.padEnd(kindWidth)}`;
    const [first = '', ...more] = below ? ['', ...why] : why;
    const shown = [`${head}  ${first}`.trimEnd(), ...more.map((line) => ' '.repeat(indent) + line)];
    return shown.map((line) => paint(line));
  });
  return [...none, ...lines];
}

/** `spared`: nothing is enforced here, so the decision is only what would have been. */
function lookOf({ outcome, why }: Row, spared: boolean, colors: Colors): Look {
  if (['no_match', 'disabled', 'skipped', 'passed'].includes(outcome)) {
    return { mark: '·', paint: colors.dim };
  }
  if (['counted', 'tagged', 'approved', 'noted'].includes(outcome))
    return { mark: '+', paint: String };
  if (spared || outcome === 'would_decide') return { mark: '▷', paint: colors.yellow };
  if (outcome !== 'decided') return { mark: '▶', paint: colors.yellow };
  const allows = why.startsWith('it decides: ALLOW');
  return { mark: '▶', paint: allows ? colors.green : colors.red };
}

export function renderSummary(counts: ExplainedCounts, { colors }: Output): string {
  const { calls, allowed, asked, refused } = counts;
  const people = asked === 0 ? '' : `, ${asked} for a person to say`;
  const head = colors.bold(plural(calls, 'call'));
  const total = `${head}: ${allowed} allowed${people}, ${refused} refused.`;
  return `${total}\n${colors.dim(LEGEND)}\n`;
}

const CEDAR_HASH_SHOWN = 19;
const INDENT = 6;

export function renderCedarHead(
  { hash, policyCount }: Pick<CedarExplanation, 'hash' | 'policyCount'>,
  { colors }: Output,
): string {
  const count = policyCount === 1 ? '1 policy' : `${policyCount} policies`;
  const facts = `${count} · ${hash.slice(0, CEDAR_HASH_SHOWN)}…`;
  return `${colors.bold('cedar')}  ${colors.dim(facts)}\n`;
}

/** `spared`: nothing is enforced here, so the decision is only what would have been. */
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
