// The memory of a guard; it outlives a change of its options.
import { type Era, type FullContentSection, fullContent } from '@subluminal/contracts';
import type { SurfaceNotice } from '../session/guard.ts';
import { type CircuitState, closedCircuit } from '../surface/circuit-breaker.ts';
import {
  initialSurfaceState,
  type OpenedPins,
  type PinReview,
  type ServerPins,
  type SurfaceState,
} from '../surface/index.ts';
import { newTaint, type TaintState } from '../taint/index.ts';
import type { GuardOptions } from './guard-options.ts';

export interface Memory {
  options: GuardOptions;
  era: Era;
  counters: SurfaceState;
  circuit: CircuitState;
  /** The review that decides calls. */
  review: PinReview | undefined;
  /** The review that the next page of tools continues. */
  pageBefore: PinReview | undefined;
  /** The last review whose new pins were saved. */
  savedReview: PinReview | undefined;
  /** The pins that were saved. */
  kept: ServerPins | undefined;
  /** Null when the server has none, undefined before it has introduced itself. */
  instructions: string | null | undefined;
  areInstructionsBad: boolean;
  /** Tools whose definition must not reach a model. */
  readonly bad: Set<string>;
  /** The names on the pages of each list so far. */
  readonly offered: Map<string, ReadonlySet<string>>;
  /** Every tool that the server has listed in this session. */
  readonly offeredEver: Set<string>;
  /** Whether all tools were listed once in this session. */
  wasListed: boolean;
  /** The names that were last compared with those of other servers. */
  compared: string;
  /** The content section with its defaults. */
  content: FullContentSection | undefined;
  taint: TaintState;
  /** Notices that the session has not fetched yet. */
  notices: SurfaceNotice[];
  /** Notices that this session has given before. */
  readonly noticed: Set<string>;
}

export function newMemory(options: GuardOptions): Memory {
  return {
    options,
    era: 'legacy',
    counters: initialSurfaceState(),
    circuit: closedCircuit(options.seed ?? 1),
    review: unreadable(options.pins?.opened),
    pageBefore: undefined,
    savedReview: undefined,
    kept: knownPins(options),
    instructions: undefined,
    areInstructionsBad: false,
    bad: new Set(),
    offered: new Map(),
    offeredEver: new Set(),
    wasListed: false,
    compared: '',
    content: options.content === undefined ? undefined : fullContent(options.content),
    taint: newTaint({ trustedClears: options.taint?.trustedClears ?? 'earlier' }),
    notices: [],
    noticed: new Set(),
  };
}

/** A store that cannot be read blocks before anything was listed. */
export function unreadable(opened: OpenedPins | undefined): PinReview | undefined {
  if (opened === undefined || opened.ok) return undefined;
  return { kind: 'unreadable', message: opened.message };
}

export function knownPins({ pins, server }: GuardOptions): ServerPins | undefined {
  return pins?.opened.ok === true ? pins.opened.store.servers.get(server) : undefined;
}
