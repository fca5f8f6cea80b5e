// What may be called, by the pins: the first sight is remembered, a change waits for a person, and
// a store that cannot be read blocks everything.

import type { Sha256 } from '../../ports.ts';
import { shellWord, visible } from '../../text/visible.ts';
import { SURFACE_REASONS, type SurfaceReason } from '../manifest/reasons.ts';
import {
  type Comparison,
  comparePins,
  type Listing,
  seenTools,
  type ToolChange,
} from './compare.ts';
import { newPin, type Pin, type PinStore, pinOf, type ServerPins } from './pin.ts';
import type { OpenedPins } from './store.ts';

type PinVerdict = Exclude<ToolChange['kind'], 'removed'>;

export type PinReview =
  | { readonly kind: 'unreadable'; readonly message: string }
  | {
      readonly kind: 'reviewed';
      readonly server: string;
      /** The store with what was seen for the first time. */
      readonly store: PinStore;
      readonly hasNews: boolean;
      readonly comparison: Comparison;
      /** Over all pages so far. */
      readonly verdicts: ReadonlyMap<string, PinVerdict>;
      readonly instructionsChanged: boolean;
    };

export interface ReviewContext {
  readonly server: string;
  readonly sha256: Sha256;
  readonly nowMs: number;
  /** The review of the pages before, in the same session. */
  readonly before?: PinReview;
}

/** Reviews a listing, or one page of it, and remembers what is new. */
export function reviewListing(
  opened: OpenedPins,
  listing: Listing,
  context: ReviewContext,
): PinReview {
  if (!opened.ok) return { kind: 'unreadable', message: opened.message };
  const { server, sha256, before } = context;
  if (before?.kind === 'unreadable') return before;
  const store = before?.store ?? opened.store;
  const comparison = comparePins(store.servers.get(server), listing, sha256);
  const verdicts = new Map(before?.verdicts);
  for (const change of comparison.tools) {
    if (change.kind === 'removed') continue;
    // Pinned on an earlier page of this very listing is new all the same.
    const isAgain = change.kind === 'same' && verdicts.has(change.name);
    if (!isAgain) verdicts.set(change.name, change.kind);
  }
  const { instructions } = comparison;
  const isChanged = typeof instructions !== 'string' || instructions === 'unpinnable';
  const remembered = remember(store, listing, { ...context, comparison });
  return {
    kind: 'reviewed',
    server,
    store: remembered,
    hasNews: remembered !== opened.store,
    comparison,
    verdicts,
    instructionsChanged: isChanged || before?.instructionsChanged === true,
  };
}

function remember(
  store: PinStore,
  listing: Listing,
  { server, sha256, nowMs, comparison }: ReviewContext & { readonly comparison: Comparison },
): PinStore {
  const isAdded = ({ kind }: ToolChange) => kind === 'added';
  const added = new Set(comparison.tools.filter(isAdded).map(({ name }) => name));
  const isFirst = comparison.instructions === 'added';
  if (added.size === 0 && !isFirst) return store;
  const known = store.servers.get(server);
  const times = { seenAtMs: nowMs, acceptedAtMs: null };
  const tools = new Map(known?.tools);
  for (const [name, pin] of pinsOf(listing, added, { sha256, times })) tools.set(name, pin);
  const instructions = isFirst ? instructionsPin(listing, { sha256, times }) : known?.instructions;
  return withServer(store, server, { instructions, tools });
}

interface Pinning {
  readonly sha256: Sha256;
  readonly times: Pick<Pin, 'seenAtMs' | 'acceptedAtMs'>;
}

/** In characters, over all kept definitions of a server; beyond that only hashes are kept. */
const KEPT_LENGTH_MAX = 1_048_576;

function pinsOf(
  listing: Listing,
  names: ReadonlySet<string>,
  { sha256, times }: Pinning,
): readonly (readonly [string, Pin])[] {
  let keptLength = 0;
  return [...seenTools(listing, sha256)].flatMap(([name, [first]]) => {
    if (!names.has(name) || first?.pinned.ok !== true) return [];
    keptLength += first.pinned.canonical.length;
    const { hash } = first.pinned;
    const pin = keptLength > KEPT_LENGTH_MAX ? { hash, ...times } : newPin(first.pinned, times);
    return [[name, pin] as const];
  });
}

function instructionsPin({ instructions = null }: Listing, { sha256, times }: Pinning) {
  const pinned = pinOf(instructions, sha256);
  return pinned.ok ? newPin(pinned, times) : undefined;
}

function withServer(store: PinStore, server: string, pins: ServerPins): PinStore {
  return { servers: new Map(store.servers).set(server, pins) };
}

/** What was seen of a server for the first time. */
export interface NewPins extends ServerPins {
  readonly server: string;
}

/** The store with new pins in it. A pin that is known already stays as it is. */
export function addPins(store: PinStore, { server, instructions, tools }: NewPins): PinStore {
  const known = store.servers.get(server);
  return withServer(store, server, {
    instructions: known?.instructions ?? instructions,
    tools: new Map([...tools, ...(known?.tools ?? [])]),
  });
}

export interface Accepting {
  readonly server: string;
  /** The tools to accept; `instructions` says whether those are accepted as well. */
  readonly tools: readonly string[];
  readonly instructions: boolean;
  readonly sha256: Sha256;
  readonly nowMs: number;
}

/** Takes what is listed now as what is known, for the named tools only; a removed one is forgotten. */
export function acceptPins(store: PinStore, listing: Listing, accepting: Accepting): PinStore {
  const { server, sha256, nowMs } = accepting;
  const known = store.servers.get(server);
  const names = new Set(accepting.tools);
  const { tools: changes } = comparePins(known, listing, sha256);
  const times = { seenAtMs: nowMs, acceptedAtMs: nowMs };
  // Two definitions of one name can't both be meant.
  const clear = changes.filter(({ kind, name }) => names.has(name) && kind !== 'ambiguous');
  const tools = new Map(known?.tools);
  for (const { kind, name } of clear) if (kind === 'removed') tools.delete(name);
  const taken = new Set(clear.map(({ name }) => name));
  for (const [name, pin] of pinsOf(listing, taken, { sha256, times })) {
    tools.set(name, { ...pin, seenAtMs: known?.tools.get(name)?.seenAtMs ?? nowMs });
  }
  const isAccepted = accepting.instructions && listing.instructions !== undefined;
  const fresh = isAccepted ? instructionsPin(listing, { sha256, times }) : undefined;
  return withServer(store, server, { instructions: fresh ?? known?.instructions, tools });
}

export type PinDecision =
  | { readonly kind: 'pass'; readonly isFirstSight: boolean }
  | {
      readonly kind: 'block';
      readonly reason_code: SurfaceReason;
      readonly message: string;
      readonly hint: string;
    };

const REPAIR = '`sub pins list` tells a person what is wrong; go on without this tool.';
const NAME_LENGTH_MAX = 120;

/** The command that shows what has changed. */
export function pinsDiffOf(server: string): string {
  return `\`sub pins diff ${nameWord(server)}\``;
}

/** The command that accepts a changed tool, or without one the instructions of the server. */
function pinsAcceptOf(server: string, tool?: string): string {
  const what = tool === undefined ? '--instructions' : nameWord(tool);
  return `\`sub pins accept ${nameWord(server)} ${what}\``;
}

function nameWord(name: string): string {
  return shellWord(visible(name, NAME_LENGTH_MAX));
}

/** Until somebody accepts it, the first sight is what holds. */
export function sinceWhen(pin: Pin | undefined, subject: 'it was' | 'they were'): string {
  return `since ${subject} ${typeof pin?.acceptedAtMs === 'number' ? 'accepted' : 'first seen'}`;
}

/** Whether a tool may be called. What was never listed in this session is not known to be the same. */
export function decideByPins(review: PinReview | undefined, tool: string): PinDecision {
  if (review === undefined) return block('PIN_UNVERIFIED', tool, { hint: LIST });
  if (review.kind === 'unreadable') return block('PIN_STORE_UNREADABLE', tool, { hint: REPAIR });
  const { server, store, instructionsChanged } = review;
  const verdict = review.verdicts.get(tool);
  if (!instructionsChanged && (verdict === 'same' || verdict === 'added')) {
    return { kind: 'pass', isFirstSight: verdict === 'added' };
  }
  const pins = store.servers.get(server);
  const hintFor = (accept: string) =>
    `A person must look at it with ${pinsDiffOf(server)} and accept it: ${accept}. Go on without this tool.`;
  if (instructionsChanged) {
    const hint = hintFor(pinsAcceptOf(server));
    const reason = `The instructions of the server have changed ${sinceWhen(pins?.instructions, 'they were')}.`;
    return block('PIN_INSTRUCTIONS_CHANGED', tool, { hint, reason });
  }
  const hint = hintFor(pinsAcceptOf(server, tool));
  if (verdict === 'ambiguous') return block('PIN_AMBIGUOUS', tool, { hint });
  if (verdict === undefined) return block('PIN_UNVERIFIED', tool, { hint: LIST });
  const reason =
    verdict === 'changed'
      ? `The definition of \`${visible(tool, NAME_LENGTH_MAX)}\` has changed ${sinceWhen(pins?.tools.get(tool), 'it was')}.`
      : 'The definition of the tool is too large or too deep to be remembered.';
  return block('PIN_CHANGED', tool, { hint, reason });
}

const LIST = 'List the tools of the server, then call one of them.';

interface Saying {
  readonly hint: string;
  readonly reason?: string;
}

function block(
  reason_code: SurfaceReason,
  tool: string,
  { hint, reason = SURFACE_REASONS[reason_code] }: Saying,
): PinDecision {
  const message = `\`${visible(tool, 120)}\` is blocked: ${reason}`;
  return { kind: 'block', reason_code, message, hint };
}
