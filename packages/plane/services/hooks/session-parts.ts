// What a governed session for the tools of a client is made of: the parts of a shim, without a server.
import { isFailure, type Producer } from '@subluminal/contracts';
import { identityOf, type Snapshot } from '@subluminal/core/policy';
import type { ApprovalWanted, AskedFor } from '@subluminal/core/session';
import { uuidv7 } from 'uuidv7';
import type { Config, HomePaths } from '../../stores/config/index.ts';
import type { ShimAccount } from '../../stores/identity/index.ts';
import type { PolicyFiles } from '../../stores/policy/follow-policy.ts';
import { hasPolicy } from '../../stores/policy/untrusted-alone.ts';
import { loadRedactor } from '../../stores/vault/load-redactor.ts';
import { openGates } from '../governor/gates-lifecycle.ts';
import type { SessionParts } from '../governor/governed-session.ts';
import { LazyApprovals } from '../governor/lazy-approvals.ts';
import { LocalHub } from '../governor/local-hub.ts';
import { sessionLimits } from '../governor/session-settings.ts';
import type { Hub } from '../hub/index.ts';
import type { FinderOptions } from '../self-protection/finder-options.ts';
import type { BatchingSink } from '../sink/index.ts';

/** What all sessions share. */
export interface HookSurroundings {
  /** The run. */
  readonly producer: Producer;
  readonly hub: Hub;
  /** It outlives each session. */
  readonly sink: BatchingSink;
  readonly config: Config;
  readonly paths: HomePaths;
  readonly policy: () => { readonly snapshot: Snapshot; readonly files: PolicyFiles };
  /** Something besides a terminal of this machine may answer. */
  readonly hasChannel: boolean;
  readonly warn: (text: string) => void;
}

export interface HookSessionOpening {
  /** The id of the client. */
  readonly client: string;
  readonly serverName: string;
  readonly cwd: string;
  readonly protects: FinderOptions;
  /** What the user says is no call, and no manifest lists it. */
  readonly isForPrompts: boolean;
  /** It has ended, and this is what it did. */
  readonly left: (account: ShimAccount) => void;
}

/** The answer that a tool use never gets is not the fault of a server: the desk gives it up by itself. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** A text says why there are none. */
export async function partsOf(
  around: HookSurroundings,
  { serverName, protects, isForPrompts, left }: HookSessionOpening,
  askElsewhere: (wanted: ApprovalWanted) => AskedFor | undefined,
): Promise<SessionParts | string> {
  const { hub, sink, config, paths, policy, hasChannel, warn } = around;
  const { snapshot, files } = policy();
  const { profile } = config;
  // Each session counts as a shim of its run.
  const source = { ...around.producer.source, shim_id: uuidv7() };
  const producer = { ...around.producer, source };
  const redactor = await loadRedactor(config['redact.extra_patterns'], []);
  if (isFailure(redactor)) return `${redactor.message} ${redactor.fix}`;
  const limits = { ...sessionLimits(config), orphanMs: NEVER_MS };
  const gates = await openGates({
    serverName,
    home: paths.home,
    manifests: isForPrompts ? undefined : config['surface.manifests'],
    // A client does not show the definitions of its tools.
    pinsMode: 'off',
    profile,
    snapshot,
    hasPolicy: hasPolicy(snapshot),
    identity: identityOf(producer),
    hasHub: true,
    hasCedar: hub.judges.length > 0,
    secrets: [],
    redact: redactor.plain,
    inspectBytesMax: limits.inspectBytesMax,
    keepsForm: true,
    protects,
  });
  if (!gates.ok) return gates.message;
  if (gates.warning !== undefined) warn(gates.warning);
  const { guarding } = gates;
  const people = new LazyApprovals({ home: paths.home, producer, warn, hasChannel, askElsewhere });
  await guarding.prepare();
  await people.prepare(snapshot, guarding.mayAsk);
  const leave = (account: ShimAccount): undefined => {
    left(account);
    return undefined;
  };
  return {
    serverName,
    transport: 'hook',
    snapshot,
    policyFiles: files,
    // One watch serves all sessions.
    policyReload: 'off',
    profile,
    producer,
    membership: { tellsStart: false, leave },
    sink,
    hub: new LocalHub({ hub, serverName, profile, producer }),
    people,
    guarding,
    injected: [],
    redact: redactor.plain,
    isClean: redactor.isClean,
    // Its warnings are reports about messages that it has made itself; a terminal may show the agent.
    logLevel: config['log.level'] === 'warn' ? 'error' : config['log.level'],
    limits,
  };
}
