// Pins in a session: listed definitions are compared with the known ones, and new ones are remembered.
import type { SurfaceNotice } from '../session/guard.ts';
import {
  type Listing,
  type NewPins,
  type PinReview,
  reviewListing,
  SURFACE_REASONS,
  type ToolChange,
} from '../surface/index.ts';
import { pinsDiffOf, sinceWhen } from '../surface/pins/review-pins.ts';
import { visible } from '../text/visible.ts';
import { knownPins, type Memory, unreadable } from './guard-memory.ts';
import type { GuardOptions, PinOptions } from './guard-options.ts';
import { addNotice } from './notices.ts';
import { namesOf } from './walk.ts';

const PATHS_SHOWN_MAX = 5;
const KEPT_INSTRUCTIONS_MAX = 65_536;

/** Reviews one page of tools; the names on it that must not be shown. */
export function reviewTools(memory: Memory, listing: Listing, nowMs: number): ReadonlySet<string> {
  const { pins } = memory.options;
  if (pins === undefined) return new Set();
  const review = reviewed(memory.options, pins, { listing, nowMs, before: memory.pageBefore });
  memory.review = review;
  memory.pageBefore = review;
  if (review.kind === 'unreadable') return new Set(namesOf(listing.tools, 'name'));
  const isKnown = memory.wasListed || (knownPins(memory.options)?.tools.size ?? 0) > 0;
  for (const change of review.comparison.tools) noticeChange(memory, change, isKnown);
  for (const { from, to } of review.comparison.renamed) {
    const detail = `\`${visible(to, 80)}\` is \`${visible(from, 80)}\` under another name.`;
    addPinNotice(memory, { what: 'tool_added', name: to, reason_code: 'TOOL_ADDED', detail });
  }
  // None of them may be called, so none is shown.
  if (review.instructionsChanged) return new Set(namesOf(listing.tools, 'name'));
  const verdicts = [...review.verdicts];
  return new Set(verdicts.filter(([, kind]) => HIDDEN.has(kind)).map(([name]) => name));
}

const HIDDEN: ReadonlySet<string> = new Set(['changed', 'ambiguous', 'unpinnable']);

function reviewed(
  { server, sha256 }: GuardOptions,
  pins: PinOptions,
  { listing, nowMs, before }: { listing: Listing; nowMs: number; before?: PinReview | undefined },
): PinReview {
  const context = { server, sha256, nowMs, ...(before !== undefined && { before }) };
  return reviewListing(pins.opened, listing, context);
}

function addPinNotice(memory: Memory, notice: Omit<SurfaceNotice, 'enforced'>): void {
  addNotice(memory, { ...notice, enforced: memory.options.enforces.pins });
}

/** Notices a change. All tools of a server that was never seen are new, and are not noticed. */
function noticeChange(memory: Memory, change: ToolChange, isKnown: boolean): void {
  const { name } = change;
  switch (change.kind) {
    case 'same':
      return;
    case 'added': {
      if (!isKnown) return;
      const detail = 'The server has a new tool; it is remembered as it is now.';
      return addPinNotice(memory, { what: 'tool_added', name, reason_code: 'TOOL_ADDED', detail });
    }
    case 'removed': {
      const detail = 'The server no longer offers this tool.';
      return addPinNotice(memory, {
        what: 'tool_removed',
        name,
        reason_code: 'TOOL_REMOVED',
        detail,
      });
    }
    case 'changed': {
      const paths = change.diff.map(({ path }) => `\`${visible(path, 80)}\``);
      const shown = paths.slice(0, PATHS_SHOWN_MAX).join(', ');
      const more = paths.length > PATHS_SHOWN_MAX ? ', …' : '';
      const { server } = memory.options;
      const since = sinceWhen(knownPins(memory.options)?.tools.get(name), 'it was');
      const detail = `The definition has changed ${since}: ${shown}${more}. See ${pinsDiffOf(server)}.`;
      return addPinNotice(memory, {
        what: 'tool_changed',
        name,
        reason_code: 'PIN_CHANGED',
        detail,
      });
    }
    case 'ambiguous':
    case 'unpinnable': {
      const isTwo = change.kind === 'ambiguous';
      const detail = isTwo
        ? SURFACE_REASONS.PIN_AMBIGUOUS
        : 'The definition is too large or too deep to be remembered, so it is not trusted.';
      const reason_code = isTwo ? 'PIN_AMBIGUOUS' : 'PIN_CHANGED';
      return addPinNotice(memory, { what: 'tool_changed', name, reason_code, detail });
    }
  }
}

/** Notices known tools that no page of a list has. */
export function noticeMissing(memory: Memory, offered: ReadonlySet<string>): void {
  for (const name of knownPins(memory.options)?.tools.keys() ?? []) {
    if (!offered.has(name)) noticeChange(memory, { kind: 'removed', name }, true);
  }
}

/** Compares the instructions with the known ones; true unless they are the same. */
export function reviewInstructions(
  memory: Memory,
  instructions: string | null,
  nowMs: number,
): boolean {
  const { pins } = memory.options;
  memory.instructions =
    (instructions ?? '').length <= KEPT_INSTRUCTIONS_MAX ? instructions : undefined;
  if (pins === undefined) return false;
  const listing = { tools: [], instructions, isComplete: false };
  const review = reviewed(memory.options, pins, { listing, nowMs, before: memory.review });
  memory.review = review;
  memory.pageBefore = review;
  if (review.kind === 'unreadable') return true;
  if (!review.instructionsChanged) return false;
  const { server } = memory.options;
  const since = sinceWhen(knownPins(memory.options)?.instructions, 'they were');
  const withheld = memory.options.enforces.pins ? ', and are withheld' : '';
  const detail = `The instructions of the server have changed ${since}${withheld}. See ${pinsDiffOf(server)}.`;
  const reason_code = 'PIN_INSTRUCTIONS_CHANGED';
  addPinNotice(memory, { what: 'instructions_changed', reason_code, detail });
  return true;
}

/** The definitions that are new since the last call. */
export function newPins(memory: Memory): NewPins | undefined {
  const { review, kept, options } = memory;
  memory.savedReview = review;
  if (review?.kind !== 'reviewed') return undefined;
  const now = review.store.servers.get(options.server);
  if (now === undefined || now === kept) return undefined;
  const tools = [...now.tools].filter(([name]) => !(kept?.tools.has(name) ?? false));
  const instructions = kept?.instructions === undefined ? now.instructions : undefined;
  memory.kept = now;
  if (tools.length === 0 && instructions === undefined) return undefined;
  return { server: options.server, instructions, tools: new Map(tools) };
}

/** Uses other pins: a blocked tool stays blocked until it is listed again and known. */
export function renewPins(memory: Memory, options: GuardOptions): void {
  const { pins } = options;
  if (pins?.opened === memory.options.pins?.opened) return;
  memory.kept = knownPins(options);
  const { review: before, instructions } = memory;
  const base = pins === undefined ? undefined : (unreadable(pins.opened) ?? fresh(memory, pins));
  memory.pageBefore = base;
  const isOn = base?.kind === 'reviewed' && before?.kind === 'reviewed';
  memory.review = isOn ? { ...base, verdicts: before.verdicts } : base;
  // Instructions that were too long to be kept cannot be compared with the new pins.
  if (isOn && instructions === undefined && before.instructionsChanged) {
    memory.review = { ...base, verdicts: before.verdicts, instructionsChanged: true };
  }
}

/** Compares the instructions of the session with other pins; remembers nothing. */
function fresh(memory: Memory, pins: PinOptions): PinReview {
  const { instructions } = memory;
  const known = instructions === undefined ? {} : { instructions };
  const listing = { tools: [], isComplete: false, ...known };
  const review = reviewed(memory.options, pins, { listing, nowMs: 0 });
  if (review.kind === 'unreadable' || !pins.opened.ok) return review;
  return { ...review, store: pins.opened.store, hasNews: false };
}
