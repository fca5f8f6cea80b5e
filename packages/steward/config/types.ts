// The configuration folder of Steward, read and checked.
import type { GuardrailsFile, IntegrationsFile } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/source';
import type { ServerEntry } from '@subluminal/plane/serve/config';
import type { Permissions } from '../permissions/index.ts';

export interface StewardConfig {
  readonly kind: 'config';
  readonly folder: string;
  /** The hash of all files that were read. */
  readonly version: string;
  readonly permissions: Permissions;
  readonly integrations: IntegrationsFile;
  readonly guardrails: GuardrailsFile;
  /** identity.md: who the agent is, in the words of its user. */
  readonly identity: string;
  /** The MCP servers of integrations.yaml. */
  readonly servers: readonly ServerEntry[];
  /** Where the manifests, skills and tools are. */
  readonly manifestsFolder: string;
  readonly skillsFolder: string;
  readonly toolsFolder: string;
  readonly warnings: readonly Problem[];
}

export interface BrokenConfig {
  readonly kind: 'broken';
  readonly problems: readonly Problem[];
}
