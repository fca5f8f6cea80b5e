// The form of pins.json: the pins, a revision that grows with each write, and a signature over both
// with the key of the home. Written by us alone, so every other form is refused.
import type { Signature } from '../../os/crypto/index.ts';

export interface SealedPins {
  readonly revision: number;
  readonly signature: Signature;
  /** The pins, byte for byte as they were signed. */
  readonly body: string;
}

const FORMAT = 'subluminal-pins/2';
const HEAD =
  /^\{\n {2}"format": "subluminal-pins\/2",\n {2}"revision": (\d{1,15}),\n {2}"signature": \{"key_id":"([0-9a-f]{16})","value":"([A-Za-z0-9+/=]{88})"\},\n {2}"pins": /;
const TAIL = '\n}\n';
/** What an earlier version wrote: the pins alone. */
const UNSEALED = /^\{\s*"format":\s*"subluminal-pins\/1"/;
/** In front of what is signed: a signature of ours over anything else is none over pins. */
const SIGNED_AS = 'subluminal.pins.v2';

export function signedText(revision: number, body: string): string {
  return `${SIGNED_AS}\n${revision}\n${body}`;
}

export function sealedText({ revision, signature: { keyId, value }, body }: SealedPins): string {
  const signature = JSON.stringify({ key_id: keyId, value });
  const head = `  "format": "${FORMAT}",\n  "revision": ${revision},\n  "signature": ${signature},\n`;
  return `{\n${head}  "pins": ${body}${TAIL}`;
}

/** `unsealed` is what an earlier version wrote; undefined is nothing that we have ever written. */
export function readSealed(text: string): SealedPins | 'unsealed' | undefined {
  const [head, revision, keyId, value] = HEAD.exec(text) ?? [];
  if (head === undefined || revision === undefined || !text.endsWith(TAIL)) {
    return UNSEALED.test(text) ? 'unsealed' : undefined;
  }
  if (keyId === undefined || value === undefined) return undefined;
  const body = text.slice(head.length, -TAIL.length);
  return { revision: Number(revision), signature: { keyId, value }, body };
}
