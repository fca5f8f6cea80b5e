// The inputs and outputs of a bridge between the eras of MCP. Plain data.
import type { Sha256 } from '../../ports.ts';
import type { Seen } from '../../session/peek/types.ts';
import type { Side } from '../../session/types.ts';

/** A message on its way through a bridge: found valid, and not parsed. */
export interface BridgeMessage {
  readonly seen: Seen;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The JSON of the id of the request on whose stream it came, if its transport has streams. */
  readonly about?: string | undefined;
}

export type BridgeCommand =
  /** Write this line, which has its newline. `about`: the JSON of the id of the agent's request that it belongs to. */
  | {
      readonly do: 'write';
      readonly to: Side;
      readonly text: string;
      readonly about?: string | undefined;
    }
  /** Write this message as it came. */
  | { readonly do: 'forward'; readonly to: Side; readonly message: BridgeMessage }
  /** Tell the operator. */
  | { readonly do: 'note'; readonly detail: string };

/** Stands between an agent and a server of different eras. */
export interface EraBridge {
  fromAgent(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  fromServer(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  /** All messages of one read have been handled. */
  settle(nowMs: number): readonly BridgeCommand[];
  /** To be called about once in a second. */
  tick(nowMs: number): readonly BridgeCommand[];
  /** Messages of the agent wait inside: the way to the server must stay open for them. */
  readonly isWaiting: boolean;
}

export interface BridgeLimits {
  /** How many messages of the agent wait for the handshake with the server. */
  readonly queuedMax: number;
  readonly openMax: number;
  /** How many characters are kept of what waits: requests, their further rounds, and what is asked in them. */
  readonly heldCharsMax: number;
  /** How many calls wait for input at the same time. */
  readonly suspendedMax: number;
  /** How long the agent has to come back with the input. */
  readonly inputMs: number;
  readonly roundsMax: number;
  /** How many things a server asks for at the same time in one call. */
  readonly inputsMax: number;
  readonly subscriptionsMax: number;
  /** How long a server has to answer `server/discover`. */
  readonly discoverMs: number;
}

export const BRIDGE_LIMITS: BridgeLimits = {
  queuedMax: 100,
  openMax: 10_000,
  heldCharsMax: 64_000_000,
  suspendedMax: 200,
  inputMs: 600_000,
  roundsMax: 32,
  inputsMax: 32,
  subscriptionsMax: 100,
  discoverMs: 10_000,
};

/** Whether one more message may wait behind these: by their number, and by their size. */
export function hasRoomFor(
  { text }: BridgeMessage,
  waiting: readonly BridgeMessage[],
  { queuedMax, heldCharsMax }: BridgeLimits,
): boolean {
  const chars = waiting.reduce((sum, one) => sum + one.text.length, text.length);
  return waiting.length < queuedMax && chars <= heldCharsMax;
}

export interface BridgeConfig {
  /** A text that nobody can guess; another one each time. */
  readonly token: () => string;
  readonly sha256: Sha256;
  readonly limits: BridgeLimits;
}
