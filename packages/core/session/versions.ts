// The revisions of MCP, and the era that each belongs to. They are named here alone.
import type { Era } from '@subluminal/contracts';

/** The first revision with metadata in each request, and the newest that is known. */
export const MODERN_VERSION = '2026-07-28';
/** The one revision whose receivers take batches. */
export const BATCH_VERSION = '2025-03-26';
/** The revisions with a handshake, the newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  ...['2025-11-25', '2025-06-18', BATCH_VERSION, '2024-11-05'],
];
const VERSION_DATE = /^\d{4}-\d{2}-\d{2}$/;

export function eraOf(version: string | undefined): Era {
  if (version === undefined || !VERSION_DATE.test(version)) return 'legacy';
  return version >= MODERN_VERSION ? 'modern' : 'legacy';
}
