// What contract A takes as a client and as an environment. Kept apart from the contracts, so that
// printing help loads none of them; a test holds the two together.
import type { Client, Env } from '@subluminal/contracts';

export const CLIENTS = [
  'claude',
  'codex',
  'headless',
  'custom',
  'unknown',
] as const satisfies readonly Client[];
export const ENVS = ['dev', 'ci', 'prod', 'unknown'] as const satisfies readonly Env[];
