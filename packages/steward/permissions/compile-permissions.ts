// Permissions → a policy of contract B. The order of the rules is what makes them mean what the tiers say: refusals
// first, then limits, then questions, then what may pass; what nothing names is asked about at the end.
import type {
  Bundle,
  GuardrailsFile,
  Match,
  PermissionLimits,
  PermissionTier,
  Rule,
  RuleOf,
  StewardChannel,
} from '@subluminal/contracts';
import { hoursInWords, readDuration, readHours, readRate } from '@subluminal/core/quantities';
import { byServer } from './actions.ts';
import { strictness } from './tier-of.ts';
import type { Permissions } from './types.ts';

export interface CompileChoice {
  readonly channel: StewardChannel;
  readonly guardrails: GuardrailsFile;
}

type OpenTier = Exclude<PermissionTier, 'forbidden'>;
const OPEN_TIERS: readonly OpenTier[] = ['auto_execute', 'log_and_execute', 'human_approval'];
const ALL: Match = { subjects: ['prompt', 'resource', 'tool'] };

/** The same permissions always give the same policy. */
export function compilePermissions(permissions: Permissions, choice: CompileChoice): Bundle {
  const { file, confirmationMs } = permissions;
  const { egress } = choice.guardrails;
  const approval = { wait: 'hold', timeout_ms: confirmationMs } as const;
  const emails = egress.contacts.flatMap((contact) => contact.emails);
  return {
    policy_id: `steward-${choice.channel}`,
    version: String(file.version),
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: rulesFor(permissions, choice),
    content: { approval },
    taint: {
      sources: [
        // The user keeps the list of contacts.
        { server: 'contacts', trust: 'trusted' },
        // They answer with the id of the sub-agent alone, which `result` and `cancel` need.
        { server: 'agents', tool: 'spawn', trust: 'trusted' },
        { server: 'agents', tool: 'code', trust: 'trusted' },
      ],
      allow: {
        ...(emails.length > 0 && { emails }),
        ...(egress.hosts.length > 0 && { hosts: egress.hosts }),
      },
      approval,
    },
    self_protection: 'on',
    hint_delivery: 'tool_result',
  };
}

function rulesFor(permissions: Permissions, { channel, guardrails }: CompileChoice): Rule[] {
  const { tiers, limits, channels } = permissions.file;
  const here = channels[channel];
  const maxTier = here?.max_tier ?? 'human_approval';
  const isOpen = (tier: OpenTier) => strictness(tier) <= strictness(maxTier);
  const actionsOf = (tier: OpenTier) => [
    ...tiers[tier].actions,
    ...(tier === 'human_approval' ? (here?.human_approval ?? []) : []),
  ];
  const timeoutMs = permissions.confirmationMs;
  return [
    ...forbid('forbidden', tiers.forbidden.actions, {
      reason_code: 'ACTION_FORBIDDEN',
      message: 'The permissions forbid this action.',
    }),
    ...forbid(`forbidden_on_${channel}`, here?.forbidden ?? [], {
      reason_code: 'CHANNEL_FORBIDDEN',
      message: `The permissions forbid this action on the channel ${channel}.`,
    }),
    ...patternRules(guardrails),
    ...OPEN_TIERS.filter((tier) => !isOpen(tier)).flatMap((tier) =>
      named(`beyond_${channel}:${tier}`, actionsOf(tier), (match) => beyond(match, channel)),
    ),
    ...OPEN_TIERS.flatMap((tier) => limitRules(tier, tiers[tier].actions, tiers[tier].constraints)),
    ...Object.entries(limits).flatMap(([action, one]) =>
      limitRules(`limit:${action}`, [action], one),
    ),
    ...limitRules(`channel_${channel}`, ['*.*'], here?.constraints ?? {}),
    ...breakerRules(guardrails),
    ...named('log', tiers.log_and_execute.actions, (match) => ({
      kind: 'tag',
      match,
      effect: { tag: { add_risk_class: ['log_and_execute'] } },
    })),
    // An allow stands behind each question: once a person has agreed, nothing below asks again.
    ...[...byServer(actionsOf('human_approval'))].flatMap(([server, tools]) => {
      const match = matchOf(server, tools);
      return [
        framed(`ask:${server}`, ask(match, timeoutMs)),
        framed(`asked:${server}`, allow(match)),
      ];
    }),
    ...named('allow_logged', tiers.log_and_execute.actions, allow),
    ...named('allow', tiers.auto_execute.actions, allow),
    framed('unknown', isOpen('human_approval') ? ask(ALL, timeoutMs) : beyond(ALL, channel)),
  ];
}

/** A rule without what all rules have. */
type RuleCore = {
  [K in Rule['kind']]: Pick<RuleOf<K>, 'kind' | 'match' | 'effect'>;
}[Rule['kind']];

function framed(rule_id: string, core: RuleCore): Rule {
  return { rule_id, enabled: true, severity: 'warn', ...core };
}

/** One rule for each server that the actions name. */
function named(
  id: string,
  actions: readonly string[],
  rule: (match: Match) => RuleCore,
): readonly Rule[] {
  return [...byServer(actions)].map(([server, tools]) =>
    framed(`${id}:${server}`, rule(matchOf(server, tools))),
  );
}

function matchOf(server: string, tools: readonly string[]): Match {
  return { server_name: { glob: [server] }, tool_name: { glob: tools } };
}

/** In any case: a server may read names more loosely than we do. */
function forbid(
  id: string,
  actions: readonly string[],
  reason: { readonly reason_code: string; readonly message: string },
): readonly Rule[] {
  return named(id, actions, ({ server_name, tool_name }) => ({
    kind: 'deny',
    match: {
      server_name: { ...server_name, ignore_case: true },
      tool_name: { ...tool_name, ignore_case: true },
    },
    effect: { action: 'BLOCK', ...reason },
  }));
}

function beyond(match: Match, channel: StewardChannel): RuleCore {
  const message = `This action needs more than the channel ${channel} may do.`;
  return {
    kind: 'deny',
    match,
    effect: { action: 'BLOCK', reason_code: 'CHANNEL_TIER', message },
  };
}

function allow(match: Match): RuleCore {
  return { kind: 'allow', match, effect: { action: 'ALLOW' } };
}

function ask(match: Match, timeout_ms: number): RuleCore {
  return { kind: 'approval', match, effect: { approval: { wait: 'hold', timeout_ms } } };
}

function limitRules(
  id: string,
  actions: readonly string[],
  { rate_limit = '', cooldown = '', hours }: PermissionLimits,
): readonly Rule[] {
  const rate = readRate(rate_limit);
  const pauseMs = readDuration(cooldown);
  const window = hours && readHours(hours);
  const pause = { reason_code: 'COOLDOWN', message: `This action needs a pause of ${cooldown}.` };
  return [
    ...(hours === undefined || window === undefined || typeof window === 'string'
      ? []
      : named(`hours:${id}`, actions, (match) => ({
          kind: 'deny',
          match: { ...match, time: { not_hours: hours } },
          effect: {
            action: 'BLOCK',
            reason_code: 'OUTSIDE_HOURS',
            message: `This action may be used ${hoursInWords(window)}.`,
          },
        }))),
    ...(rate === undefined
      ? []
      : named(`rate:${id}`, actions, (match) => bucket(match, rate.calls, rate.periodMs))),
    ...(pauseMs === undefined
      ? []
      : named(`cooldown:${id}`, actions, (match) => {
          const { effect, ...rest } = bucket(match, 1, pauseMs);
          return { ...rest, effect: { ...effect, ...pause } };
        })),
  ];
}

/** Each tool has a bucket of its own. */
function bucket(
  match: Match,
  calls: number,
  periodMs: number,
): Pick<RuleOf<'rate_limit'>, 'kind' | 'match' | 'effect'> {
  const rate_limit = {
    scope: 'server_tool',
    capacity: calls,
    refill_tokens: calls,
    refill_period_ms: periodMs,
    on_limit: 'REJECT_WITH_HINT',
  } as const;
  return { kind: 'rate_limit', match, effect: { rate_limit } };
}

function patternRules({ forbidden_patterns }: GuardrailsFile): readonly Rule[] {
  return forbidden_patterns.map(({ pattern, why }, at) =>
    framed(`pattern:${at + 1}`, {
      kind: 'deny',
      match: { any_arg: { regex: [pattern] } },
      effect: {
        action: 'BLOCK',
        reason_code: 'FORBIDDEN_PATTERN',
        message: why ?? 'The guardrails forbid a text in the parameters of this action.',
      },
    }),
  );
}

function breakerRules({ circuit_breaker }: GuardrailsFile): readonly Rule[] {
  const { actions, repeats, errors, window } = circuit_breaker;
  const rate = readRate(actions);
  const windowMs = readDuration(window);
  const rules: Rule[] = [];
  if (rate !== undefined) {
    const { kind, effect } = bucket({}, rate.calls, rate.periodMs);
    const rate_limit = { ...effect.rate_limit, scope: 'run' } as const;
    rules.push(framed('circuit_breaker:actions', { kind, match: {}, effect: { rate_limit } }));
  }
  if (windowMs !== undefined) {
    const breaker = {
      scope: 'server_tool',
      error_threshold: errors,
      window_ms: windowMs,
      repeat_threshold: repeats,
      repeat_window_ms: windowMs,
      on_trip: 'REJECT_WITH_HINT',
    } as const;
    rules.push(
      framed('circuit_breaker:loops', { kind: 'breaker', match: {}, effect: { breaker } }),
    );
  }
  return rules;
}
