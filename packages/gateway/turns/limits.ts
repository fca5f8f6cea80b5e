// What one engine holds at most.

export interface TurnLimits {
  readonly bodyBytesMax: number;
  /** The bodies of all turns under way together. */
  readonly bodiesBytesMax: number;
  readonly answerBytesMax: number;
  readonly errorBytesMax: number;
  readonly eventBytesMax: number;
  /** How long a stream may go on, however alive it is. */
  readonly streamMsMax: number;
  /** Turns at the same time. */
  readonly turnsMax: number;
  /** How often a held stream says that it is alive. */
  readonly keepAliveMs: number;
  /** How long the first events wait for one with content, while another attempt could still be made. */
  readonly headHoldMs: number;
}

const MEBIBYTE = 1024 * 1024;

export const TURN_LIMITS: TurnLimits = {
  bodyBytesMax: 10 * MEBIBYTE,
  bodiesBytesMax: 512 * MEBIBYTE,
  answerBytesMax: 32 * MEBIBYTE,
  errorBytesMax: MEBIBYTE,
  eventBytesMax: 16 * MEBIBYTE,
  streamMsMax: 60 * 60_000,
  turnsMax: 1_000,
  keepAliveMs: 15_000,
  headHoldMs: 5_000,
};
