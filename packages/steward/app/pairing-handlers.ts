// Who may write on the channels, over the socket.
import { tableFailure } from '@subluminal/contracts';
import type { PairedSender, PairResult } from '../channels/index.ts';
import type { ControlHandlers } from '../control/index.ts';

export interface Pairing {
  readonly paired: () => readonly PairedSender[];
  readonly pair: (code: string) => PairResult;
  /** False when they were not paired. */
  readonly unpair: (channel: string, sender: string) => boolean;
}

export function pairingHandlers(
  pairing: Pairing,
): Pick<ControlHandlers, 'paired' | 'pair' | 'unpair'> {
  return {
    paired: async () => ({ senders: pairing.paired().map(senderAnswer) }),
    pair: async ({ code }) => {
      const result = pairing.pair(code);
      switch (result.kind) {
        case 'paired':
          return senderAnswer(result.sender);
        case 'unknown':
          return tableFailure('SUB_STEWARD_REQUEST', 'Nobody was given this code, or it is old.');
        case 'void':
          return tableFailure(
            'SUB_STEWARD_REQUEST',
            'There were too many wrong codes: all codes are void. Write to Steward again for a new one.',
          );
      }
    },
    unpair: async ({ channel, sender }) =>
      pairing.unpair(channel, sender)
        ? { is_done: true }
        : tableFailure('SUB_STEWARD_REQUEST', 'This sender is not paired.'),
  };
}

function senderAnswer({ channel, sender, senderName, atMs }: PairedSender) {
  return { channel, sender, name: senderName, paired_at_ms: atMs };
}
