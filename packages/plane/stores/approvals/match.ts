// Which call an approval or a grant is for. Pure, and never wider than what was shown.
import type {
  ApprovalCall,
  ArgLimit,
  Grant,
  GrantArgs,
  JsonObject,
  JsonValue,
} from '@subluminal/contracts';
import { compileGlob } from '@subluminal/core/policy';

/** A call as it is about to be made. */
export interface GrantedCall {
  readonly run_id: string;
  readonly call_id: string;
  readonly server: string;
  readonly tool: string;
  readonly rule_id: string;
  readonly args_hash: string;
  readonly policy_hash: string;
  /** The real ones; undefined when they were too large to be read: then no pattern fits. */
  readonly args: JsonObject | undefined;
  readonly agent: {
    readonly agent_id: string;
    readonly env: string;
    readonly principal?: string | undefined;
  };
}

type CallBinding = Pick<
  ApprovalCall,
  'run_id' | 'server' | 'tool' | 'args_hash' | 'policy_hash' | 'rule_id'
>;

const DEPTH_MAX = 256;

/** Whether an approval of the one is an approval of the other. The id may differ: a retry has another. */
export function sameCall(one: CallBinding, other: CallBinding): boolean {
  return (
    one.run_id === other.run_id &&
    one.server === other.server &&
    one.tool === other.tool &&
    one.rule_id === other.rule_id &&
    one.args_hash === other.args_hash &&
    one.policy_hash === other.policy_hash
  );
}

/** Whether a grant covers a call at that time. That it was used or revoked is for others to know. */
export function covers(grant: Grant, call: GrantedCall, nowMs: number): boolean {
  const { match, expires_at } = grant;
  if (expires_at !== null && Date.parse(expires_at) <= nowMs) return false;
  // A grant from the future was written by a clock that cannot be trusted.
  if (Date.parse(grant.created_at) > nowMs + CLOCK_SKEW_MS) return false;
  return (
    match.server === call.server &&
    match.tool === call.tool &&
    match.rule_id === call.rule_id &&
    match.agent_id === call.agent.agent_id &&
    match.env === call.agent.env &&
    match.principal === (call.agent.principal ?? null) &&
    (match.run_id === null || match.run_id === call.run_id) &&
    (match.policy_hash === null || match.policy_hash === call.policy_hash) &&
    argsFit(match.args, call)
  );
}

const CLOCK_SKEW_MS = 60_000;

function argsFit(wanted: GrantArgs, { args, args_hash }: GrantedCall): boolean {
  switch (wanted.kind) {
    case 'any':
      return true;
    case 'exact':
      return wanted.args_hash === args_hash;
    case 'pattern':
      return args !== undefined && patternFits(wanted.names, args);
  }
}

/** An argument that the pattern does not name was not shown to anybody: it may not be there. */
function patternFits(names: { readonly [name: string]: ArgLimit }, args: JsonObject): boolean {
  if (Object.keys(args).some((name) => !Object.hasOwn(names, name))) return false;
  return Object.entries(names).every(([name, limit]) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return limitFits(limit, value);
  });
}

function limitFits(limit: ArgLimit, value: JsonValue | undefined): boolean {
  switch (limit.is) {
    case 'any':
      return true;
    case 'equal':
      return value !== undefined && sameJson(limit.value, value, 0);
    case 'like':
      return typeof value === 'string' && likeGlob(limit.glob, value);
  }
}

/** A `..` in a path leads out of what the glob seems to name, and control characters hide things. */
const EVASIVE = /(?:^|[/\\])\.\.(?:$|[/\\])|\p{Cc}|%2e|%2f|%5c/iu;

function likeGlob(glob: string, value: string): boolean {
  const compiled = compileGlob(glob);
  return compiled.ok && !EVASIVE.test(value) && compiled.test(value);
}

function sameJson(one: JsonValue, other: JsonValue, depth: number): boolean {
  if (depth > DEPTH_MAX) return false;
  if (one === other) return true;
  if (!isTree(one) || !isTree(other)) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  if (left.size !== right.size) return false;
  return [...left].every(([key, value]: readonly [string, JsonValue]) => {
    const same = right.get(key);
    return same !== undefined && sameJson(value, same, depth + 1);
  });
}

function isTree(value: JsonValue): value is readonly JsonValue[] | JsonObject {
  return typeof value === 'object' && value !== null;
}
