// Pins for the API: what sessions have noticed, a look at the server when the owner asks for one, and
// accepting exactly what that look has shown. The server wrote every text in it.
import { homedir } from 'node:os';
import {
  API_DEFINITION_LENGTH_MAX,
  API_SERVERS_LIMIT,
  type ApiAcceptPins,
  type ApiPendingChange,
  type ApiPinsAccepted,
  type ApiPinsDiff,
  type ApiProbe,
  type ApiProbeWish,
  type ApiSeenTool,
  type Failure,
  failure,
  isFailure,
} from '@subluminal/contracts';
import { type PinStore, pinOf } from '@subluminal/core/surface';
import type { PinWorkbench } from '@subluminal/plane/api';
import { userHome } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { pendingChanges } from '@subluminal/plane/ledger';
import { probeServer } from '@subluminal/plane/probe';
import { openPins } from '@subluminal/plane/surface';
import manifest from '../package.json' with { type: 'json' };
import { isAcceptable, pinListing, pinsChanged } from '../surface/pin-listing.ts';
import {
  hashOf,
  type PinsView,
  type ServerListing,
  type ToolChange,
  toolNamed,
  viewPins,
} from '../surface/pins-report.ts';
import { shortened } from '../terminal/text.ts';
import { folderOfServer } from './run-folder.ts';

interface Probed {
  readonly seen: ServerListing;
  readonly transport: ApiProbe['transport'];
  readonly foundIn: string | null;
  readonly atMs: number;
}

const PROBE_MS = 30_000;
/** How long what was shown can be accepted. */
const KEPT_MS = 15 * 60_000;
const PROBES_MAX = 16;
const NAME_LENGTH_MAX = 1_024;
const TOOLS_MAX = 2 * API_SERVERS_LIMIT.tools;
/** All definitions of one answer together. */
const TEXTS_LENGTH_MAX = 4_194_304;

export function pinWorkbench(host: WorkbenchHost): PinWorkbench {
  const { home } = host.home.paths;
  const probes = new Map<string, Probed>();
  const recent = (server: string) => {
    const probed = probes.get(server);
    return probed !== undefined && Date.now() < probed.atMs + KEPT_MS ? probed : undefined;
  };
  const diff = async (server: string): Promise<ApiPinsDiff | Failure> => {
    const pins = openPins(home);
    if (isFailure(pins)) return pins;
    const changes = await changesOf(host, pins.store);
    const probed = recent(server);
    return {
      server_name: server,
      is_pinned: pins.store.servers.has(server),
      changes: changes.get(server) ?? [],
      probe: probed === undefined ? null : probeOf(server, probed, pins.store),
    };
  };
  return {
    diff,
    probe: async (server, wish) => {
      const probed = await look(host, server, wish);
      if (isFailure(probed)) return probed;
      probes.delete(server);
      probes.set(server, probed);
      const [oldest] = probes.keys();
      if (oldest !== undefined && probes.size > PROBES_MAX) probes.delete(oldest);
      return diff(server);
    },
    accept: async (server, input) => {
      const probed = recent(server);
      if (probed === undefined) return notShown(server);
      const accepted = await accept(home, server, { input, probed });
      if (isFailure(accepted)) return accepted;
      const now = await diff(server);
      return isFailure(now) ? now : { ...accepted, diff: now };
    },
  };
}

function notShown(server: string): Failure {
  const message = `what ${server} shows now was not looked at in the last 15 minutes.`;
  return failure('SUB_PINS_CHANGED', message, 'Look at the server again, then accept it.');
}

/** What nobody has accepted yet, by server. */
export async function changesOf(
  { ledger }: Pick<WorkbenchHost, 'ledger'>,
  pins: PinStore,
): Promise<ReadonlyMap<string, readonly ApiPendingChange[]>> {
  const changes = new Map<string, ApiPendingChange[]>();
  for (const { change, detail, runId } of await pendingChanges(ledger.store, pins, Date.now())) {
    const { server_name, tool_name, enforced, ts } = change;
    const at_ms = Date.parse(ts);
    const pending = { tool_name, enforced, detail, run_id: runId, at_ms };
    const known = changes.get(server_name) ?? [];
    if (known.length < API_SERVERS_LIMIT.tools) known.push(pending);
    changes.set(server_name, known);
  }
  return changes;
}

/** As the user's own clients start it; else as those of the project that last used it do. */
async function look(
  { env, ledger }: WorkbenchHost,
  server: string,
  { client }: ApiProbeWish,
): Promise<Probed | Failure> {
  const options = { server, client, env, timeoutMs: PROBE_MS, version: manifest.version };
  const own = await probeServer({ ...options, cwd: userHome(env) ?? homedir() });
  const isUnknown = own.kind === 'failure' && own.code === 'SUB_SERVER_UNKNOWN';
  const folder = isUnknown ? await folderOfServer(ledger.store, server) : undefined;
  const looked = folder === undefined ? own : await probeServer({ ...options, cwd: folder });
  if (looked.kind === 'failure') return failure(looked.code, looked.message, looked.fix);
  if (looked.kind === 'interrupted') {
    return failure('SUB_SERVER_LOOK', `the look at ${server} was ended.`, 'Try again.');
  }
  const { seen, transport, foundIn } = looked;
  return { seen, transport, foundIn: foundIn?.path ?? null, atMs: Date.now() };
}

function probeOf(
  server: string,
  { seen, transport, foundIn, atMs }: Probed,
  store: PinStore,
): ApiProbe {
  const view = viewPins(store, server, seen);
  const { tools, renamed } = view.comparison;
  const sorted = [
    ...tools.filter(({ kind }) => kind !== 'same'),
    ...tools.filter(({ kind }) => kind === 'same'),
  ];
  const room = { left: TEXTS_LENGTH_MAX };
  return {
    at_ms: atMs,
    expires_at_ms: atMs + KEPT_MS,
    transport,
    found_in: foundIn,
    first_sight: view.isFirstSight,
    changed: view.hasChanged,
    // First: they count for all tools.
    instructions: instructionsOf(view, seen, room),
    tools_total: tools.length,
    tools: sorted.slice(0, TOOLS_MAX).map((change) => toolOf(change, { view, seen, room })),
    renamed: renamed.map(({ from, to }) => ({ from: named(from), to: named(to) })),
  };
}

function named(name: string): string {
  return shortened(name, NAME_LENGTH_MAX);
}

/** How much of an answer is left for definitions. */
interface Room {
  left: number;
}

/** The text, or null when it is too long to be shown; then it cannot be accepted here either. */
function fitting(text: string | undefined, room: Room): string | null {
  if (text === undefined || text.length > Math.min(API_DEFINITION_LENGTH_MAX, room.left))
    return null;
  room.left -= text.length;
  return text;
}

interface ToolContext {
  readonly view: PinsView;
  readonly seen: ServerListing;
  readonly room: Room;
}

function toolOf(change: ToolChange, { view, seen, room }: ToolContext): ApiSeenTool {
  const { name, kind } = change;
  const pin = view.known?.tools.get(name);
  const hash = isAcceptable(change) ? hashOf(seen, name) : null;
  const isNews = kind === 'added' || kind === 'changed';
  const after = isNews ? fitting(definitionText(seen, name, hash), room) : null;
  const isKept = kind === 'removed' || kind === 'changed';
  return {
    tool_name: named(name),
    kind,
    pinned: pin?.hash ?? null,
    seen: hash,
    before: isKept ? fitting(jsonText(pin?.definition), room) : null,
    after,
    fields: kind === 'changed' ? change.diff.map(fieldOf) : [],
    acceptable:
      isAcceptable(change) && name.length <= NAME_LENGTH_MAX && (!isNews || after !== null),
  };
}

function fieldOf({
  kind,
  path,
  before,
  after,
}: Extract<ToolChange, { kind: 'changed' }>['diff'][number]) {
  return {
    kind,
    path,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
}

function jsonText(definition: unknown): string | undefined {
  return definition === undefined ? undefined : JSON.stringify(definition, null, 2);
}

/**
 * The definition as text, its fields in the order in which pins are kept, so that the two can be compared; as the
 * server wrote it where numbers would lose digits otherwise.
 */
function definitionText(
  seen: ServerListing,
  name: string,
  hash: string | null,
): string | undefined {
  const tool = toolNamed(seen.tools, name);
  if (tool === undefined) return undefined;
  const plain = pinOf(tool, sha256);
  if (plain.ok && plain.hash === hash) return jsonText(JSON.parse(plain.canonical));
  return seen.toolTexts?.[seen.tools.indexOf(tool)];
}

function instructionsOf(
  { known, comparison }: PinsView,
  seen: ServerListing,
  room: Room,
): ApiProbe['instructions'] {
  const { instructions: change } = comparison;
  const kind = typeof change === 'string' ? change : 'changed';
  const pin = known?.instructions;
  const isNews = kind === 'added' || kind === 'changed';
  const after = isNews ? fitting(seen.instructions ?? '', room) : null;
  const was: unknown = pin?.definition;
  const before = kind === 'changed' && isText(was) ? fitting(was ?? '', room) : null;
  return {
    kind,
    pinned: pin?.hash ?? null,
    seen: instructionsHash(seen),
    before,
    after,
    fields: typeof change === 'string' ? [] : change.map(fieldOf),
    acceptable: kind === 'same' || (isNews && after !== null),
  };
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function instructionsHash({ instructions }: ServerListing): string | null {
  if (instructions === undefined) return null;
  const pinned = pinOf(instructions, sha256);
  return pinned.ok ? pinned.hash : null;
}

interface AcceptRequest {
  readonly input: ApiAcceptPins;
  readonly probed: Probed;
}

/** Writes the pins when everything is as it was shown, else nothing. */
async function accept(
  home: string,
  server: string,
  { input, probed }: AcceptRequest,
): Promise<Omit<ApiPinsAccepted, 'diff'> | Failure> {
  const pins = openPins(home);
  if (isFailure(pins)) return pins;
  const { seen } = probed;
  const shown = probeOf(server, probed, pins.store);
  const byName = new Map(shown.tools.map((tool) => [tool.tool_name, tool]));
  const wishes = [
    ...input.tools.map((wish) => ({ wish, is: byName.get(wish.tool_name), name: wish.tool_name })),
    ...(input.instructions ? [{ wish: input.instructions, is: shown.instructions, name: '' }] : []),
  ];
  for (const { wish, is, name } of wishes) {
    if (is?.seen !== wish.seen || is.pinned !== wish.pinned) return pinsChanged(server);
    if (!is.acceptable) return notAcceptable(server, name);
  }
  const tools = [...new Set(input.tools.map(({ tool_name }) => tool_name))];
  const instructions = input.instructions !== undefined;
  if (wishes.length === 0) return { accepted: [], instructions };
  const known = pins.store.servers.get(server);
  const failed = await pinListing({ home, server, tools, instructions, known, seen });
  return failed ?? { accepted: tools, instructions };
}

function notAcceptable(server: string, tool: string): Failure {
  const what = tool === '' ? `the instructions of ${server}` : `the tool ${tool} of ${server}`;
  const message = `${what} cannot be accepted here: it was not shown whole, or is there twice.`;
  return failure('SUB_PINS_CHANGED', message, 'Run `sub pins accept`, which shows all of it.');
}
