// SHA-256, for the core.
import { hash } from 'node:crypto';
import type { Sha256 } from '@subluminal/core/ports';

export const sha256: Sha256 = (text) => hash('sha256', text, 'hex');

export function sha256Bytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
