// From what a person wishes to a grant: never wider than the words that were shown for it.
import {
  type Approval,
  type ArgLimit,
  type Failure,
  failure,
  type Grant,
  type GrantArgs,
  isFailure,
  isObject,
  type JsonValue,
} from '@subluminal/contracts';
import { compileGlob } from '@subluminal/core/policy';
import { covers } from './match.ts';
import { timeText } from './ports.ts';

export type ArgsWish =
  /** The arguments that were shown. */
  | { readonly kind: 'exact' }
  | { readonly kind: 'any' }
  /** Those that were shown, but for some that may be like a glob, or anything. */
  | {
      readonly kind: 'pattern';
      readonly like: ReadonlyMap<string, string>;
      readonly free: ReadonlySet<string>;
    };

export type GrantWish =
  | { readonly kind: 'once' }
  | { readonly kind: 'run'; readonly args: ArgsWish }
  | { readonly kind: 'minutes'; readonly durationMs: number; readonly args: ArgsWish }
  | { readonly kind: 'always'; readonly args: ArgsWish };

interface Giver {
  readonly id: string;
  readonly by: string;
  readonly channel: string;
  readonly note?: string | undefined;
  readonly nowMs: number;
}

/** How long a call may be tried again after it was approved. */
const ONCE_MS = 15 * 60_000;
/** Runs end by themselves; this is for those that were forgotten. */
const RUN_MS = 7 * 86_400_000;
const DURATION_MS_MAX = 366 * 86_400_000;
const DURATION_MS_MIN = 1_000;
/** What stands where a secret was taken out. */
const REDACTED = '[REDACTED';

export function grantFor(request: Approval, wish: GrantWish, giver: Giver): Grant | Failure {
  const { call, agent } = request;
  const args = wish.kind === 'once' ? exactly(request) : argsFor(request, wish.args);
  if (args.kind === 'failure') return args;
  const expiresMs = expiryOf(wish, giver.nowMs);
  if (expiresMs === 'wrong') {
    return noGrant('a grant lasts from a second to a year.', 'Give another duration.');
  }
  const isOfRun = wish.kind === 'once' || wish.kind === 'run';
  const grant: Grant = {
    v: 1,
    id: giver.id,
    kind: wish.kind,
    created_at: timeText(giver.nowMs),
    expires_at: expiresMs === null ? null : timeText(expiresMs),
    by: giver.by,
    channel: giver.channel,
    ...(giver.note !== undefined && { note: giver.note }),
    request: request.id,
    match: {
      server: call.server,
      tool: call.tool,
      rule_id: call.rule_id,
      agent_id: agent.agent_id,
      env: agent.env,
      principal: agent.principal ?? null,
      run_id: isOfRun ? call.run_id : null,
      // For once it is the very call; what lasts must outlive an edit of the policy elsewhere.
      policy_hash: wish.kind === 'once' ? call.policy_hash : null,
      args,
    },
  };
  if (coversItsCall(grant, request, giver.nowMs)) return grant;
  return noGrant('this pattern does not fit the call itself.', 'Correct the globs.');
}

function expiryOf(wish: GrantWish, nowMs: number): number | null | 'wrong' {
  switch (wish.kind) {
    case 'once':
      return nowMs + ONCE_MS;
    case 'run':
      return nowMs + RUN_MS;
    case 'always':
      return null;
    case 'minutes': {
      const { durationMs } = wish;
      const isSane = durationMs >= DURATION_MS_MIN && durationMs <= DURATION_MS_MAX;
      return isSane ? nowMs + durationMs : 'wrong';
    }
  }
}

function argsFor(request: Approval, wish: ArgsWish): GrantArgs | Failure {
  if (wish.kind === 'any') return { kind: 'any' };
  if (wish.kind === 'exact') return exactly(request);
  const { args, args_complete } = request.call;
  if (!args_complete || !isObject(args)) {
    const message = 'the arguments were not shown in full, so no pattern can be made of them.';
    return noGrant(message, 'Grant exactly these arguments, or any.');
  }
  const names = new Map<string, ArgLimit>();
  for (const [name, value] of Object.entries(args)) {
    const limit = limitFor(name, value, wish);
    if (isFailure(limit)) return limit;
    names.set(name, limit);
  }
  for (const name of wish.like.keys()) {
    if (names.has(name)) continue;
    return noGrant(`the call has no argument \`${name}\`.`, 'Name one that is shown.');
  }
  for (const name of wish.free) names.set(name, { is: 'any' });
  return { kind: 'pattern', names: Object.fromEntries(names) };
}

function limitFor(
  name: string,
  value: JsonValue,
  { like, free }: Extract<ArgsWish, { readonly kind: 'pattern' }>,
): ArgLimit | Failure {
  if (free.has(name)) return { is: 'any' };
  const glob = like.get(name);
  if (glob !== undefined) {
    const compiled = compileGlob(glob);
    if (compiled.ok) return { is: 'like', glob };
    const message = `\`${glob}\` is no glob: ${compiled.message}.`;
    return noGrant(message, 'Write `*` for any text, `?` for one character.');
  }
  if (!JSON.stringify(value).includes(REDACTED)) return { is: 'equal', value };
  const message = `a secret was taken out of the argument \`${name}\`, so it cannot be compared.`;
  return noGrant(message, 'Let that argument be anything, or grant exactly these.');
}

function exactly({ call }: Approval): GrantArgs {
  return { kind: 'exact', args_hash: call.args_hash };
}

/** A grant that does not cover what the person has before them is a mistake. */
function coversItsCall(grant: Grant, { call, agent }: Approval, nowMs: number): boolean {
  const args = call.args_complete && isObject(call.args) ? call.args : undefined;
  return covers(grant, { ...call, agent, args }, nowMs);
}

function noGrant(message: string, fix: string): Failure {
  return failure('SUB_GRANT_REFUSED', message, fix);
}
