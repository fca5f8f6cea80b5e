// The last head as it is kept outside of the table of heads: in `ledger.head`, in the ledger's own
// notes, and wherever else somebody puts a copy.
import { isObject } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { type Head, headHash, isHead } from './signed-head.ts';

export interface WitnessedHead {
  readonly ledgerId: string;
  readonly head: Head;
  /**
   * A signature of its own. Every head stands in the ledger with its signature, so without a seal
   * anybody could cut the ledger back to an older head and put that one in `ledger.head`.
   */
  readonly seal?: string;
}

/** Where the ledger itself notes its last head. */
export const NOTED_HEAD = 'signed_head';

function sealText({ ledgerId, head }: WitnessedHead): string {
  return JSON.stringify(['subluminal.witness.v1', ledgerId, headHash(ledgerId, head)]);
}

export function sealed(ledgerId: string, head: Head, signer: Signer): WitnessedHead {
  return { ledgerId, head, seal: signer.sign(sealText({ ledgerId, head })) };
}

export function sealHolds(witnessed: WitnessedHead, verifier: Verifier): boolean {
  const { head, seal } = witnessed;
  if (seal === undefined) return false;
  return verifier.verify(sealText(witnessed), { keyId: head.keyId, value: seal });
}

/** Whoever signs needs no other key to see what it has signed: ed25519 says the same each time. */
export function signerAsVerifier(signer: Signer): Verifier {
  return {
    verify: (text, { keyId, value }) => keyId === signer.keyId && signer.sign(text) === value,
  };
}

export function formatWitness({ ledgerId, head, seal }: WitnessedHead): string {
  const kept = { format: 'subluminal.head.v1', ledger_id: ledgerId, head };
  return `${JSON.stringify(seal === undefined ? kept : { ...kept, seal })}\n`;
}

/** Reads what `formatWitness` wrote; undefined when it is anything else. */
export function parseWitness(text: string): WitnessedHead | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['format'] !== 'subluminal.head.v1') return undefined;
  const { ledger_id: ledgerId, head, seal } = value;
  if (typeof ledgerId !== 'string' || !isHead(head)) return undefined;
  if (seal === undefined) return { ledgerId, head };
  return typeof seal === 'string' ? { ledgerId, head, seal } : undefined;
}

/** Whether both are the same head, to the last bit. */
export function isSameHead(ledgerId: string, one: Head, other: Head): boolean {
  return headHash(ledgerId, one) === headHash(ledgerId, other);
}
