// Servers for the API: what each was asked, what is pinned and changed, its manifest, and its breaker.
import {
  API_SERVERS_LIMIT,
  type ApiPendingChange,
  type ApiServer,
  type ApiServersQuery,
  type ApiServerTool,
  isFailure,
  isObject,
  tableFailure,
} from '@subluminal/contracts';
import {
  EMPTY_PINS,
  type Manifest,
  type Pin,
  type ServerPins,
  toolRule,
} from '@subluminal/core/surface';
import type { ServerWorkbench } from '@subluminal/plane/api';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import type { ServerUse } from '@subluminal/plane/ledger';
import { loadManifest, openPins } from '@subluminal/plane/surface';
import { shortened } from '../terminal/text.ts';
import { changesOf } from './pins.ts';
import { breakerStates, type ServerBreaker, UNKNOWN_BREAKER } from './server-breakers.ts';
import { secretsAnswer } from './server-secrets.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Calls of so many days are added up where no time is asked for. */
const RANGE_DAYS = 30;
const DESCRIPTION_LENGTH_MAX = 2_000;
const NOTHING_PINNED: ServerPins = { instructions: undefined, tools: new Map() };

export function serverWorkbench(host: WorkbenchHost): ServerWorkbench {
  return {
    list: async (query) => {
      const known = await gather(host, query);
      const names = [...known.names].toSorted();
      const kept = names.slice(0, API_SERVERS_LIMIT.servers);
      const rows: ApiServer[] = [];
      for (const name of kept) {
        rows.push(await serverOf(host, known, { name, toolsMax: API_SERVERS_LIMIT.toolsListed }));
      }
      return { rows, cut: kept.length < names.length, pins_problem: known.pinsProblem };
    },
    one: async (name, query) => {
      const known = await gather(host, query);
      if (!known.names.has(name)) return tableFailure('SUB_API_NOT_FOUND');
      return serverOf(host, known, { name, toolsMax: API_SERVERS_LIMIT.tools });
    },
    secrets: () => secretsAnswer(host),
  };
}

/** What is known of all servers, each question asked once. */
interface KnownServers {
  readonly names: ReadonlySet<string>;
  readonly use: ReadonlyMap<string, readonly ServerUse[]>;
  readonly clients: ReadonlyMap<string, readonly string[]>;
  readonly pins: ReadonlyMap<string, ServerPins>;
  readonly changes: ReadonlyMap<string, readonly ApiPendingChange[]>;
  readonly breakers: ReadonlyMap<string, ServerBreaker>;
  readonly pinsProblem: string | null;
}

async function gather(
  host: WorkbenchHost,
  { from_ms, to_ms }: ApiServersQuery,
): Promise<KnownServers> {
  const { store } = host.ledger;
  const toMs = to_ms ?? Number.MAX_SAFE_INTEGER;
  const range = { fromMs: from_ms ?? Date.now() - RANGE_DAYS * DAY_MS, toMs };
  const use = new Map<string, ServerUse[]>();
  for (const one of await store.serverUse(range)) {
    const known = use.get(one.server_name);
    if (known === undefined) use.set(one.server_name, [one]);
    else known.push(one);
  }
  const opened = openPins(host.home.paths.home);
  const pins = isFailure(opened) ? EMPTY_PINS : opened.store;
  return {
    names: new Set([...use.keys(), ...pins.servers.keys()]),
    use,
    clients: await store.serverClients(range),
    pins: pins.servers,
    changes: await changesOf(host, pins),
    breakers: await breakerStates(store),
    pinsProblem: isFailure(opened) ? `${opened.message} ${opened.fix}` : null,
  };
}

interface ServerWish {
  readonly name: string;
  readonly toolsMax: number;
}

async function serverOf(
  host: WorkbenchHost,
  known: KnownServers,
  { name, toolsMax }: ServerWish,
): Promise<ApiServer> {
  const use = known.use.get(name) ?? [];
  const pins = known.pins.get(name) ?? NOTHING_PINNED;
  const changes = known.changes.get(name) ?? [];
  const { manifest, answer } = await manifestOf(host, name);
  const tools = new Map(use.map((one) => [one.tool_name, one]));
  const names = [...new Set([...tools.keys(), ...pins.tools.keys()])];
  const calls = (tool: string) => tools.get(tool)?.calls ?? 0;
  const shown = names
    .toSorted((left, right) => calls(right) - calls(left) || (left < right ? -1 : 1))
    .slice(0, toolsMax);
  const rows: ApiServerTool[] = [];
  for (const tool of shown) {
    const used = tools.get(tool);
    rows.push({
      ...pinnedOf(pins.tools.get(tool)),
      tool_name: tool,
      risk_class: used === undefined ? [] : await host.ledger.store.riskClasses(name, tool),
      tier: manifest === undefined ? null : toolRule(manifest, tool).tier,
      change: changes.find(({ tool_name }) => tool_name === tool) ?? null,
      ...totals(used === undefined ? [] : [used]),
    });
  }
  const { breaker, last_trip } = known.breakers.get(name) ?? UNKNOWN_BREAKER;
  return {
    server_name: name,
    clients: known.clients.get(name) ?? [],
    ...totals(use),
    tools_total: names.length,
    tools: rows,
    instructions_pin: pinOf(pins.instructions),
    changes,
    manifest: answer,
    breaker,
    last_trip,
  };
}

function totals(use: readonly ServerUse[]) {
  const sum = (field: 'calls' | 'refused' | 'errors') =>
    use.reduce((total, one) => total + one[field], 0);
  const last = Math.max(...use.map(({ last_call_at_ms }) => last_call_at_ms));
  return {
    calls: sum('calls'),
    refused: sum('refused'),
    errors: sum('errors'),
    last_call_at_ms: use.length === 0 ? null : last,
  };
}

function pinOf(pin: Pin | undefined): ApiServer['instructions_pin'] {
  if (pin === undefined) return null;
  return { hash: pin.hash, seen_at_ms: pin.seenAtMs, accepted_at_ms: pin.acceptedAtMs };
}

function pinnedOf(pin: Pin | undefined) {
  const says: unknown = isObject(pin?.definition) ? pin.definition['description'] : undefined;
  const description = typeof says === 'string' ? shortened(says, DESCRIPTION_LENGTH_MAX) : null;
  return { pin: pinOf(pin), description };
}

async function manifestOf(
  { home }: WorkbenchHost,
  server: string,
): Promise<{ readonly manifest?: Manifest; readonly answer: ApiServer['manifest'] }> {
  const { 'surface.manifests': folder, profile } = home.config;
  const loaded = await loadManifest({ folder, server, profile });
  const { path } = loaded;
  const none = { path, hash: null, problem: null };
  if (loaded.kind === 'none') return { answer: { ...none, state: 'none' } };
  if (loaded.kind === 'problems') {
    const problem = loaded.problems[0]?.message ?? null;
    return { answer: { ...none, state: 'broken', problem } };
  }
  const { manifest } = loaded;
  return { manifest, answer: { ...none, state: 'valid', hash: manifest.manifest_hash } };
}
