// The first gate of a call: is the tool shown, are its parameters in bounds, is it time for it?
// The same limits that the list was rewritten by, once more: a call need not come from the list.
import type { JsonObject } from '@subluminal/contracts';
import { hoursInWords, inWords, untilOpenMs } from '../text/quantities.ts';
import { visible } from '../text/visible.ts';
import {
  isShown,
  paramRules,
  strictestRule,
  type ToolRule,
  toolRule,
  twinsOf,
} from './manifest/lookup.ts';
import { SURFACE_REASONS, type SurfaceReason } from './manifest/reasons.ts';
import type { Tier } from './manifest/shape.ts';
import type { Confirmation, Manifest } from './manifest/types.ts';
import { climbs } from './names/climbs.ts';
import {
  counted,
  isCounted,
  type Keyed,
  type SurfaceState,
  type Waiting,
  waitOf,
} from './state.ts';
import { corrected, type Violation, violationsOf } from './violations.ts';

export interface SurfaceCall {
  readonly tool: string;
  readonly args: JsonObject;
}

export interface Refusal {
  readonly kind: 'refuse';
  readonly reason_code: SurfaceReason;
  readonly message: string;
  /** What the caller can do instead. */
  readonly hint: string;
  /** Arguments that would pass this gate, where they are known. */
  readonly suggested_args: JsonObject | null;
  /** When the same call may pass. */
  readonly retryAfterMs: number | undefined;
}

export type SurfaceDecision =
  | { readonly kind: 'pass'; readonly tier: Tier; readonly listed: boolean }
  | Refusal
  | {
      readonly kind: 'approve';
      readonly reason_code: 'APPROVAL_REQUIRED';
      readonly message: string;
      readonly confirmation: Confirmation;
    };

export interface Enforced {
  readonly decision: SurfaceDecision;
  readonly state: SurfaceState;
}

export interface Moment {
  readonly state: SurfaceState;
  readonly nowMs: number;
  /** False when the server has never listed a tool of this very name. */
  readonly isOffered?: boolean;
  /** What the keeper of the counters answers, or `none`; undefined when `state` holds them. */
  readonly waiting?: Waiting | 'none' | undefined;
}

/** Decides a call by the manifest. A refused call counts for no limit; one that asks a person does. */
export function enforceCall(manifest: Manifest, call: SurfaceCall, moment: Moment): Enforced {
  const { state, nowMs } = moment;
  const names = namesOf(manifest, call, moment);
  const rule = strictestRule(manifest, names);
  const refused =
    forbidden(rule, call) ?? refusedParams(manifest, call, names) ?? refusedNow(rule, moment);
  if (refused !== undefined) return { decision: refused, state };
  const next = counted(state, rule.limits, nowMs);
  const { tier, listed, confirmation } = rule;
  if (tier !== 'human_approval') return { decision: { kind: 'pass', tier, listed }, state: next };
  const message = `${name(call.tool)} waits for a person to agree.`;
  const reason_code = 'APPROVAL_REQUIRED';
  return { decision: { kind: 'approve', reason_code, message, confirmation }, state: next };
}

/** The limits that a call counts for; none when the manifest refuses it whatever was counted. */
export function limitsOf(manifest: Manifest, call: SurfaceCall, moment: Moment): readonly Keyed[] {
  const { decision } = enforceCall(manifest, call, { ...moment, waiting: 'none' });
  if (decision.kind === 'refuse') return [];
  return strictestRule(manifest, namesOf(manifest, call, moment)).limits.filter(isCounted);
}

/** A name that the server does not list may mean others in the manifest. */
function namesOf(manifest: Manifest, { tool }: SurfaceCall, { isOffered = true }: Moment) {
  return isOffered ? [tool] : [tool, ...twinsOf(manifest, tool)];
}

/** Whether some limit counts the calls of a tool, under whatever name. */
export function isLimited(manifest: Manifest, tool: string): boolean {
  const names = [tool, ...twinsOf(manifest, tool)];
  return names.some((known) => toolRule(manifest, known).limits.some(isCounted));
}

function refuse(
  reason_code: SurfaceReason,
  message: string,
  advice: Partial<Pick<Refusal, 'hint' | 'suggested_args' | 'retryAfterMs'>> = {},
): Refusal {
  const { hint = SURFACE_REASONS[reason_code], suggested_args = null, retryAfterMs } = advice;
  return { kind: 'refuse', reason_code, message, hint, suggested_args, retryAfterMs };
}

function forbidden({ tier, listed }: ToolRule, { tool }: SurfaceCall): Refusal | undefined {
  if (tier !== 'forbidden') return undefined;
  const reason = listed ? 'TOOL_FORBIDDEN' : 'TOOL_NOT_LISTED';
  const hint = 'Use one of the tools that the server lists; do not try this one again.';
  return refuse(reason, `${name(tool)} is not available.`, { hint });
}

const SHOWN_MAX = 5;

function refusedParams(
  manifest: Manifest,
  call: SurfaceCall,
  names: readonly string[],
): Refusal | undefined {
  const { tool } = call;
  const rules = paramRules(manifest, ...names);
  // Arguments are often parsed on first use, and most tools have no rules for them.
  if (!rules.any) return undefined;
  const { args } = call;
  const violations = violationsOf(rules, args);
  if (violations === undefined) {
    const hint = 'Send fewer or flatter arguments.';
    return refuse('ARGS_TOO_COMPLEX', SURFACE_REASONS.ARGS_TOO_COMPLEX, { hint });
  }
  const [first] = violations;
  if (first === undefined) return undefined;
  const { code, verb } = WORDS[first.kind];
  // A list and its items have one path, and may break the same limit.
  const paths = violations.filter(({ kind }) => kind === first.kind).map(({ path }) => name(path));
  const message = `${name(tool)}: ${unique(paths).join(', ')} ${verb}.`;
  const hint = unique(violations.map(hintOf)).join(' ');
  return refuse(code, message, { hint, suggested_args: corrected(rules, args) });
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].slice(0, SHOWN_MAX);
}

const WORDS = {
  blocked: { code: 'PARAM_BLOCKED', verb: 'must not be sent' },
  stripped: { code: 'PARAM_STRIPPED', verb: 'cannot be used here' },
  limit: { code: 'PARAM_LIMIT', verb: 'is beyond its limit' },
} as const;

function hintOf(violation: Violation): string {
  const path = name(violation.path);
  if (violation.kind !== 'limit') return `Call it without ${path}.`;
  return `${path} must be ${visible(violation.expected, 300)}.`;
}

function refusedNow(rule: ToolRule, moment: Moment): Refusal | undefined {
  const { state, nowMs } = moment;
  for (const { hours } of rule.limits.map(({ limits }) => limits)) {
    const untilMs = hours === undefined ? 0 : untilOpenMs(hours, nowMs);
    if (hours === undefined || untilMs === 0) continue;
    const message = `This tool may be used ${hoursInWords(hours)}.`;
    const hint = `It is open again in ${inWords(untilMs)}; go on with something else.`;
    return refuse('OUTSIDE_HOURS', message, { hint, retryAfterMs: untilMs });
  }
  const waiting = moment.waiting ?? waitOf(state, rule.limits, nowMs);
  if (waiting === undefined || waiting === 'none') return undefined;
  const code = waiting.kind === 'rate' ? 'RATE_LIMITED' : 'COOLDOWN';
  const hint = `Wait ${inWords(waiting.waitMs)}, then try again.`;
  const message = `This tool may be called ${waiting.words}.`;
  return refuse(code, message, { hint, retryAfterMs: waiting.waitMs });
}

export type Access = { readonly kind: 'pass' } | Refusal;

const HINTS = {
  METHOD_NOT_LISTED: 'Use the tools, prompts and resources that the server lists.',
  PROMPT_NOT_LISTED: 'Use one of the prompts that the server lists.',
  RESOURCE_NOT_LISTED: 'Use one of the resources that the server lists.',
} as const;

function access(isPassed: boolean, reason: keyof typeof HINTS, what: string): Access {
  if (isPassed) return { kind: 'pass' };
  return refuse(reason, `The ${what} is not available.`, { hint: HINTS[reason] });
}

/** Whether a method that no revision of the protocol has may be asked for. */
export function enforceMethod({ defaultTier }: Manifest, method: string): Access {
  const isPassed = defaultTier === 'auto_execute' || defaultTier === 'log_and_execute';
  return access(isPassed, 'METHOD_NOT_LISTED', `method ${name(method)}`);
}

/** Whether a prompt may be fetched. */
export function enforcePrompt({ prompts }: Manifest, prompt: string): Access {
  return access(isShown(prompts, prompt), 'PROMPT_NOT_LISTED', `prompt ${name(prompt)}`);
}

/** Whether a resource may be read or subscribed to. */
export function enforceResource({ resources }: Manifest, uri: string): Access {
  const isPassed = !climbs(uri) && isShown(resources, uri);
  return access(isPassed, 'RESOURCE_NOT_LISTED', `resource ${name(uri)}`);
}

/** A name that came from the agent. */
function name(text: string): string {
  return `\`${visible(text, 120)}\``;
}
