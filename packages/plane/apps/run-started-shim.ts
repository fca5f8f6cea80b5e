// The rest of a shim, loaded while its server starts. What the server says waits until all of this is there.
import { isFailure } from '@subluminal/contracts';
import { identityOf, type Snapshot } from '@subluminal/core/policy';
import type { Manifest } from '@subluminal/core/surface';
import { GatesLifecycle } from '../services/governor/gates-lifecycle.ts';
import type { SessionParts } from '../services/governor/governed-session.ts';
import type { HubLink } from '../services/governor/hub.ts';
import { LazyApprovals } from '../services/governor/lazy-approvals.ts';
import type { ReadyToStart } from '../services/governor/policy-start.ts';
import { runShim, type ShimServer } from '../services/governor/run-shim.ts';
import {
  gateOptions,
  openEventSink,
  sessionLimits,
} from '../services/governor/session-settings.ts';
import { finderOptions } from '../services/self-protection/finder-options.ts';
import type { BatchingSink } from '../services/sink/index.ts';
import { type LoadResult, mayAnswerElsewhere } from '../stores/config/index.ts';
import type { Identified } from '../stores/identity/index.ts';
import { hasPolicy } from '../stores/policy/untrusted-alone.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';
import { loadRedactor } from '../stores/vault/load-redactor.ts';
import type { ShimOptions, WayToServer } from './start-shim.ts';

interface StartedShim {
  readonly options: ShimOptions;
  readonly loaded: Extract<LoadResult, { readonly ok: true }>;
  readonly policy: ReadyToStart;
  readonly way: WayToServer;
  /** Undefined where it cannot fail: then it is opened here. */
  readonly sink: BatchingSink | undefined;
  readonly hub: HubLink | undefined;
  readonly identified: Identified;
  readonly manifest: Manifest | undefined;
  readonly server: Promise<ShimServer>;
  readonly warn: (text: string) => void;
}

/** Runs until the agent, the server or a signal ends it; a text says why the server may not go on. */
export async function runStarted(started: StartedShim): Promise<number | string> {
  const parts = await partsOf(started);
  return typeof parts === 'string' ? parts : runShim(parts, await started.server);
}

async function partsOf(started: StartedShim): Promise<SessionParts | string> {
  const { options, loaded, policy, way, hub, identified, warn } = started;
  const { config, paths } = loaded;
  const { producer, runOrigin, leave } = identified;
  const snapshot = await policy.snapshot();
  if (isFailure(snapshot)) return policyFailureText(snapshot);
  const sink = started.sink ?? openEventSink(options.env, loaded, warn);
  if (typeof sink === 'string') return sink;
  const redaction = way.redaction ?? (await loadRedactor([], []));
  if (isFailure(redaction)) return redaction.message;
  const hasChannel = mayAnswerElsewhere(loaded);
  const people = new LazyApprovals({ home: paths.home, producer, warn, hasChannel });
  const guarding = gatesFor(started, snapshot, redaction.plain);
  await guarding.prepare();
  await people.prepare(snapshot, guarding.mayAsk);
  return {
    serverName: options.serverName,
    ...(options.remote !== undefined && { transport: 'mcp_http' as const }),
    // The first shim of a run tells of its start, the last one of its end; a host does both itself.
    membership: { tellsStart: runOrigin === 'created' || runOrigin === 'alone', leave },
    snapshot,
    policyFiles: policy.files,
    policyReload: config['policy.reload'],
    profile: config.profile,
    producer,
    sink,
    hub,
    people,
    guarding,
    injected: way.injected,
    redact: redaction.plain,
    logLevel: config['log.level'],
    isClean: redaction.isClean,
    limits: sessionLimits(config),
  };
}

function gatesFor(
  { options, loaded, policy, way, hub, identified, manifest }: StartedShim,
  snapshot: Snapshot,
  redact: (text: string) => string,
): GatesLifecycle {
  const { config, paths } = loaded;
  const policies = policy.files.sources.map(({ path }) => path);
  const known = {
    serverName: options.serverName,
    snapshot,
    identity: identityOf(identified.producer),
    hasHub: hub !== undefined,
    hasCedar: hub?.asksCedar === true || config['cedar.policies'] !== null,
    ...way.kept,
    redact,
    hasPolicy: hasPolicy(snapshot),
    // What no call may name.
    protects: finderOptions(options, { config, paths, policies }),
  };
  return new GatesLifecycle(gateOptions(loaded, known), manifest);
}
