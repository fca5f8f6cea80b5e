// Hints for the API: the list, and letting a call pass that was refused with one.
import {
  API_HINTS_LIMIT,
  type ApiHintedCall,
  type ApiHints,
  type ApiHintsQuery,
  type ApiPromote,
  type ApiPromoted,
  catchFailure,
  definedFields,
  type Failure,
  isFailure,
} from '@subluminal/contracts';
import type { HintWorkbench } from '@subluminal/plane/api';
import { type ArgsWish, grantWords, openDesk } from '@subluminal/plane/approvals';
import { findPolicies, userHome } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { thisSystem } from '@subluminal/plane/os';
import { userName } from '../approvals/desk.ts';
import {
  type FoundHint,
  type Hinted,
  hintsOf,
  isHinted,
  promoteFailure,
  requirePromotable,
  unknownHint,
} from '../hints/find.ts';
import { giveGrant, planGrant, requestOf } from '../hints/to-grant.ts';
import { type PolicyPlan, planPolicy, writePolicyPlan } from '../hints/to-policy.ts';
import { badUsage, orThrow } from '../input/command.ts';
import { SILENT } from '../terminal/io.ts';
import { folderOfRun } from './run-folder.ts';

export function hintWorkbench(host: WorkbenchHost): HintWorkbench {
  return {
    list: (query) => listed(host, query),
    promote: async ({ runId, callId }, input) => {
      const { store } = host.ledger;
      const call = await store.call(runId, callId);
      const run = await store.run(runId);
      if (call === undefined || run === undefined || !isHinted(call)) return unknownHint(callId);
      const isPolicy = input.to === 'policy';
      const request = isPolicy ? undefined : await requestOf(store, call);
      const found = { call, run, request };
      orThrow(wrongFields(input));
      orThrow(requirePromotable(found, !isPolicy || input.this_run_only === true));
      return isPolicy ? toPolicy(host, found, input) : toGrant(host, found, input);
    },
  };
}

async function listed(
  { ledger: { store } }: WorkbenchHost,
  { run_id, server_name, from_ms, to_ms, limit, cursor }: ApiHintsQuery,
): Promise<ApiHints> {
  const filter = {
    decision: 'REJECT_WITH_HINT' as const,
    kind: 'tool_call' as const,
    ...definedFields({ runId: run_id, serverName: server_name, fromMs: from_ms, toMs: to_ms }),
  };
  const page = definedFields({ limit: limit ?? API_HINTS_LIMIT.fallback, cursor });
  const { rows, next } = await store.calls(filter, page);
  const ended = new Map<string, boolean>();
  const hints: ApiHintedCall[] = [];
  for (const call of await hintsOf(store, rows)) {
    const { run_id: id } = call;
    const hasEnded = ended.get(id) ?? (await store.run(id))?.status !== null;
    ended.set(id, hasEnded);
    hints.push(hintRow(call, hasEnded));
  }
  return { rows: hints, next };
}

function hintRow(call: Hinted, run_ended: boolean): ApiHintedCall {
  const { run_id, call_id, agent_id, server_name, tool_name, args_hash, args_preview } = call;
  const { rule_id, reason_code, summary, hint } = call;
  const named = { run_id, call_id, agent_id, server_name, tool_name, args_hash, args_preview };
  return { ...named, rule_id, reason_code, summary, run_ended, hint };
}

/** Fields that are for the other way of promoting. */
function wrongFields({
  to,
  like,
  free,
  this_run_only,
  base_sha256,
  dry_run,
}: ApiPromote): Failure | undefined {
  const isPolicy = to === 'policy';
  if (isPolicy && (like ?? free) !== undefined) {
    return badUsage(
      '`like` and `free` are for grants.',
      'Leave them out, or promote to the session.',
    );
  }
  if (!isPolicy && (this_run_only ?? base_sha256) !== undefined) {
    return badUsage('`this_run_only` and `base_sha256` are for rules.', 'Leave them out.');
  }
  if (isPolicy && dry_run !== true && base_sha256 === undefined) {
    return badUsage(
      '`base_sha256` is missing.',
      'Ask with `dry_run` first, and send what it gives.',
    );
  }
  return undefined;
}

async function toPolicy(
  host: WorkbenchHost,
  found: FoundHint,
  input: ApiPromote,
): Promise<ApiPromoted | Failure> {
  const plan = await planIn(policyFiles(host, found), found, input);
  const { path, before, rule, diff, notes } = plan;
  const base_sha256 = sha256(before);
  const isWanted = input.dry_run !== true;
  if (isWanted && base_sha256 !== input.base_sha256) {
    return promoteFailure(`${path} is not the file that was shown.`, 'Look at the change again.');
  }
  if (isWanted) await writePolicyPlan(plan, host.home.paths);
  const policy = { path, base_sha256, rule_id: rule.rule_id, diff, notes };
  return { changed: isWanted, policy, grant: null };
}

/** The policies that may have decided: the configured one, else that of the project of the run and the user's. */
function policyFiles({ home, env }: WorkbenchHost, { run }: FoundHint): readonly string[] {
  const { config, paths } = home;
  const named = config['policy.path'];
  if (named !== null) return [named];
  const cwd = folderOfRun(run) ?? paths.home;
  const { project, user } = findPolicies({ cwd, home: paths.home, userHome: userHome(env) });
  return [project, user].filter((path) => path !== undefined);
}

/** The plan for the first of them that has the rule which refused. Throws its failure. */
async function planIn(
  paths: readonly string[],
  { call, run }: FoundHint,
  input: ApiPromote,
): Promise<PolicyPlan> {
  const { any_args: anyArgs = false, this_run_only: session = false } = input;
  const wish = { call, run, anyArgs, session, by: userName(), nowMs: Date.now() };
  let failed = promoteFailure('no policy is found for this run.', 'Use `sub hints promote`.');
  for (const path of paths) {
    const plan = await catchFailure(() => planPolicy({ ...wish, path }, SILENT));
    if (!isFailure(plan)) return plan;
    failed = plan;
  }
  return orThrow(failed);
}

function toGrant(
  { home, log }: WorkbenchHost,
  found: FoundHint,
  input: ApiPromote,
): ApiPromoted | Failure {
  const ports = { nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime(), warn: log };
  const desk = orThrow(openDesk({ home: home.paths.home, ports }));
  const giver = { by: userName(), channel: 'web' };
  const plan = planGrant({ desk, giver }, found, orThrow(argsWish(input)));
  const isWanted = input.dry_run !== true;
  const grant = isWanted ? orThrow(giveGrant({ desk, giver }, plan)) : plan.grant;
  const covers = grantWords(grant);
  return {
    changed: isWanted,
    policy: null,
    grant: { id: grant.id, state: 'active', covers, grant, end: null },
  };
}

function argsWish({ any_args, like, free = [] }: ApiPromote): ArgsWish | Failure {
  const globs = new Map(Object.entries(like ?? {}));
  const isPattern = globs.size + free.length > 0;
  if (any_args === true && isPattern) {
    return badUsage('`any_args` leaves nothing for `like` or `free`.', 'Leave one out.');
  }
  if (free.some((name) => globs.has(name))) {
    return badUsage('an argument is both in `like` and in `free`.', 'Name it once.');
  }
  if (any_args === true) return { kind: 'any' };
  return isPattern ? { kind: 'pattern', like: globs, free: new Set(free) } : { kind: 'exact' };
}
