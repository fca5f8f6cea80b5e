// SHA-256 for the core.
import * as crypto from 'node:crypto';
import type { Sha256 } from '@subluminal/core/ports';

/** One call without a hash object, where Node has it (from 20.12). */
export const sha256: Sha256 =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text, 'hex')
    : (text) => crypto.createHash('sha256').update(text, 'utf8').digest('hex');

/** The same of bytes. */
export const sha256Bytes: (bytes: Uint8Array) => string =
  typeof crypto.hash === 'function'
    ? (bytes) => crypto.hash('sha256', bytes, 'hex')
    : (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');
