// A record of a person's decision as it stands in its file: a line of JSON, and a line with a
// signature over it. A process that can write into the folder but has no key can approve nothing.

import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import { type HomeSeal, type Signature, sha256 } from '../../os/crypto/index.ts';
import { parseJson } from '../../os/index.ts';

export type RecordSeal = ReturnType<typeof recordSeal>;

type OpenedRecord =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'refused'; readonly why: string };

/** In front of what is signed; with the name, so that no record passes for another. */
const SIGNED_AS = 'subluminal.record.v1';
const KNOWN_MAX = 4_096;

export function recordSeal(key: HomeSeal, folder: string) {
  // A queue is looked at often, and its records never change.
  const known = new Set<string>();
  const signedText = (name: string, line: string) => `${SIGNED_AS}\n${folder}/${name}\n${line}`;
  return {
    /** The text of the file. */
    seal(name: string, line: string): string | Failure {
      const signed = key.sign(signedText(name, line));
      if (!isFailure(signed)) return `${line}\n${signatureLine(signed)}\n`;
      const { message, fix } = signed;
      return failure('SUB_APPROVAL_STORE', message, fix);
    },
    /** The line, or why it is not believed. */
    open(name: string, text: string): OpenedRecord {
      const [line = '', last = '', end, ...rest] = text.split('\n');
      const signature = readSignature(last);
      if (signature === undefined || end !== '' || rest.length > 0) return refused(UNSIGNED);
      const digest = sha256(`${name}\n${text}`);
      if (known.has(digest)) return { kind: 'line', line };
      const checked = key.check(signedText(name, line), signature);
      if (isFailure(checked)) return refused(`it cannot be checked: ${checked.message}`);
      if (!checked) return refused('its signature does not hold: somebody else wrote it');
      if (known.size >= KNOWN_MAX) known.clear();
      known.add(digest);
      return { kind: 'line', line };
    },
  };
}

const UNSIGNED = 'it is not signed: an earlier version wrote it, or somebody else';

function refused(why: string): OpenedRecord {
  return { kind: 'refused', why };
}

function signatureLine({ keyId, value }: Signature): string {
  return JSON.stringify({ key_id: keyId, signature: value });
}

function readSignature(text: string): Signature | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { key_id: keyId, signature } = value;
  if (typeof keyId !== 'string' || typeof signature !== 'string') return undefined;
  return { keyId, value: signature };
}
