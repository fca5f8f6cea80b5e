// Compares a shim's settings with those of its run, as the hub reports them. Any program of the user can
// change the environment and the files of a run, and a repository can bring the entry of a server; the
// memory of the hub is harder to reach.

import { visible } from '@subluminal/core/visible';
import type { Config } from '../../stores/config/index.ts';
import { POLICY_COPY_HASH_VAR, POLICY_COPY_VAR } from '../../stores/runs/env-vars.ts';
import { isOther } from '../../stores/runs/policy-of-run.ts';
import { type SharedConfig, sharedSettings, sinkText } from '../../stores/runs/shared-settings.ts';
import { looseFlags } from '../clients/shim-command.ts';
import type { RunTerms } from '../hub/client/index.ts';
import type { UnlikeShim } from '../hub/index.ts';

interface ShimStart {
  readonly serverName: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly flags: { readonly [flag: string]: string | undefined };
  /** All words behind `shim`. */
  readonly words: readonly string[];
  readonly config: Pick<Config, 'profile' | 'policy.reload' | 'policy.path'> & SharedConfig;
  readonly home: string;
  /** Whether `sub import` or `sub wrap` of this home wrote exactly this start. */
  readonly isWritten: () => Promise<boolean>;
}

/** How a shim differs from its run, in a sentence for people. */
export interface RunDifference {
  readonly reason: string;
  /** The server must not start. */
  readonly isRefused: boolean;
}

const UNLIKE_LENGTH_MAX = 2_000;
const FIX = 'What tells of this run was changed meanwhile: end the agent and start it again.';
const ENTRY_FIX =
  'Take what sets it out of the entry of the server; if it is not there, what tells of this run was changed meanwhile: end the agent and start it again. [SUB_SHIM_LOOSE]';
const LOOSE_FIX =
  'Put a shim without them in its place (`sub import`), or take them out of its entry; if they are yours, give --policy and --profile to `sub import`, and write the rest into config.toml.';

/** For the record of the run. */
export function unlikeWords({ serverId, reason, hasStarted }: UnlikeShim): string {
  const how = hasStarted ? 'is looser than the run' : 'did not start';
  return visible(`the server ${serverId} ${how}: ${reason}`, UNLIKE_LENGTH_MAX);
}

/** Undefined when the shim works as the run does. */
export async function unlikeRun(
  terms: RunTerms,
  told: ShimStart,
): Promise<RunDifference | undefined> {
  // An older hub does not report it.
  if (terms.profile === undefined) return undefined;
  const isRefused = terms.profile === 'production';
  const loose = looseWords(terms, told);
  const isWritten = loose.length > 0 && (await told.isWritten());
  if (loose.length > 0 && !isWritten) return { reason: looseReason(told, loose), isRefused };
  const other = isRefused ? otherTerms(terms, told, isWritten) : undefined;
  const reason = other ?? otherSettings(terms, told);
  return reason === undefined ? undefined : { reason, isRefused };
}

/** Why a run in production would refuse the shim; for a shim that cannot ask its hub. */
export async function looseWithoutHub(told: ShimStart): Promise<string | undefined> {
  const loose = looseWords({ profile: 'production' }, told);
  if (loose.length === 0 || (await told.isWritten())) return undefined;
  return looseReason(told, loose);
}

function looseReason({ serverName }: ShimStart, loose: readonly string[]): string {
  return `${serverName} starts sub shim with ${loose.join(', ')}, and no \`sub import\` of this home wrote that. ${LOOSE_FIX} [SUB_SHIM_LOOSE]`;
}

/** The flags of the entry that weaken the shim and are not those of the run. */
function looseWords(
  { profile = 'production', settings }: RunTerms,
  told: ShimStart,
): readonly string[] {
  const { env, words, config, flags } = told;
  const isInSession = flags['wrap'] !== undefined;
  const end = words.indexOf('--');
  return looseFlags(
    { flags: end === -1 ? words : words.slice(0, end) },
    {
      profile,
      // `sub wrap` writes these into its entries; in others only a record tells who did.
      serverOnly: isInSession ? (flags['server-env']?.split(',') ?? []) : [],
      isInSession,
      isOfRun: (flag, value) => {
        if (flag === 'governance-endpoint') return value === env['SUB_GOVERNANCE_ENDPOINT'];
        if (flag === 'events') return sinkText(config['events.sink']) === settings?.['SUB_EVENTS'];
        const path = config['policy.path'];
        return Boolean(env[POLICY_COPY_VAR]) && path !== null && !isOther(env['SUB_POLICY'], path);
      },
    },
  );
}

/** `isWritten`: the flags of the entry are the user's own. */
function otherTerms(terms: RunTerms, told: ShimStart, isWritten: boolean): string | undefined {
  const { profile, policy_hash: hash, policy_reload: reload } = terms;
  const { env, flags, config } = told;
  // `sub wrap` writes these into all of its entries: there they are not their own.
  const isOwn = (flag: string): boolean =>
    isWritten && flags[flag] !== undefined && flags['wrap'] === undefined;
  if (config.profile !== profile && !isOwn('profile')) {
    return `the run is in production, but this server would be in ${config.profile}. ${ENTRY_FIX}`;
  }
  const ownReload = config['policy.reload'];
  if (reload !== undefined && ownReload !== reload) {
    return `the run has policy.reload = "${reload}", but this server would have "${ownReload}". ${ENTRY_FIX}`;
  }
  if (hash === undefined || isOwn('policy')) return undefined;
  if (env[POLICY_COPY_VAR] && env[POLICY_COPY_HASH_VAR] === hash) return undefined;
  return `this server would have another policy than the run began with. ${FIX} [SUB_SNAPSHOT_HASH]`;
}

/** A setting that an older hub does not tell is not compared. */
function otherSettings(terms: RunTerms, told: ShimStart): string | undefined {
  const { config, home, flags } = told;
  const own = sharedSettings(config, home);
  const names = Object.entries(terms.settings ?? {}).flatMap(([name, value]) => {
    // `--events ledger` is more than the run asks for; anything else was looked at above.
    const isSaid = name === 'SUB_EVENTS' && flags['events'] !== undefined;
    if (own[name] === undefined || own[name] === value || isSaid) return [];
    return [name];
  });
  if (names.length === 0) return undefined;
  const [verb, what] = names.length === 1 ? ['is', 'another value'] : ['are', 'other values'];
  return `${names.join(', ')} ${verb} set to ${what} for this server than for its run. ${ENTRY_FIX}`;
}
