// Models and one run that they are asked in: a real hub, a policy, and events in memory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Event,
  type IntegrationsFile,
  isFailure,
  parseEventLine,
  type ShimSummary,
  type StewardModel,
} from '@subluminal/contracts';
import { compileBundle, parseBundle, type Snapshot } from '@subluminal/core/policy';
import { resolveSecretRef } from '@subluminal/gateway/config';
import { loadConfig } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import { Hub } from '@subluminal/plane/hub';
import type { BatchingSink } from '@subluminal/plane/sink';
import { onTestFinished } from 'vitest';
import { openModels, type StewardModels } from '../index.ts';

export interface ModelRun {
  readonly models: StewardModels;
  readonly home: string;
  readonly events: readonly Event[];
  /** What was added to the account of the run. */
  readonly ended: readonly ShimSummary[];
  readonly usePolicy: (snapshot: Snapshot) => void;
  /** The events of one type. */
  readonly of: <T extends Event['type']>(type: T) => readonly Extract<Event, { type: T }>[];
}

interface ModelRunOptions {
  readonly chains: IntegrationsFile['models'];
  readonly rules?: string;
  readonly sections?: string;
  readonly env?: { readonly [name: string]: string };
  readonly home?: string;
}

export const RUN_ID = 'run-1';

export async function openModelRun(options: ModelRunOptions): Promise<ModelRun> {
  const { chains, rules = '', sections = '', env = {} } = options;
  const home = options.home ?? temporaryHome();
  const loaded = await loadConfig({ env: { SUB_HOME: home, HOME: home }, flags: {}, cwd: home });
  if (!loaded.ok) throw new Error('the configuration is broken');
  const { config, paths, prices } = loaded;
  const places = { env, home, userHome: home, settings: {} };
  const models = openModels({
    config,
    paths,
    prices,
    hasChannel: true,
    tell: () => {},
    chains: () => chains,
    secrets: places,
    secret: (ref) => resolveSecretRef(ref, places),
  });
  onTestFinished(() => models.close());
  const events: Event[] = [];
  const ended: ShimSummary[] = [];
  let snapshot = await snapshotOf(rules, sections);
  const usePolicy = (changed: Snapshot): void => {
    snapshot = changed;
  };
  const hub = new Hub({ runId: RUN_ID, nowMs: () => Date.now(), sha256 });
  const problem = await models.openRun({
    producer: {
      run_id: RUN_ID,
      agent_id: 'steward',
      client: 'custom',
      env: 'dev',
      source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
    },
    hub,
    sink: memorySink(events),
    snapshot: () => snapshot,
    ended: (summary) => void ended.push(summary),
  });
  if (isFailure(problem)) throw new Error(problem.message);
  const of: ModelRun['of'] = (type) =>
    events.filter((event): event is Extract<Event, { type: typeof type }> => event.type === type);
  return { models, home, events, of, ended, usePolicy };
}

export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'sub-models-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** The policy that these rules make. */
export async function snapshotOf(rules: string, sections = ''): Promise<Snapshot> {
  const list = rules === '' ? 'rules: []\n' : `rules:\n${rules}`;
  const text = `policy_id: local\nversion: "1"\nmode: control\n${sections}${list}`;
  const checks = { regex: () => undefined, glob: () => undefined, when: () => undefined };
  const parsed = parseBundle({ file: 'p.yaml', text }, { checks });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  return compileBundle(parsed.bundle, { sha256, profile: 'production' });
}

/** A model of this machine, which wants no key. */
export function localModel(base_url: string, model = 'local'): StewardModel {
  return { provider: 'openai_compat', model, base_url, timeout_s: 60 };
}

function memorySink(events: Event[]): BatchingSink {
  const stats = { queued: 0, spooled: 0, previewsDropped: 0, linesLost: 0 };
  return {
    write({ line }) {
      const parsed = parseEventLine(line);
      if (!parsed.ok) throw new Error(`no event: ${line}`);
      events.push(parsed.event);
    },
    push() {},
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
    stats: () => stats,
  };
}
