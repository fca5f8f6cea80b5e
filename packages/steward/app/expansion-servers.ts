// The servers by which the agent proposes to become more than it is, as far as guardrails.yaml lets it.
import type { OwnServer } from '@subluminal/plane/agent-run';
import type { StewardConfig } from '../config/index.ts';
import {
  modelWorker,
  openRegistry,
  type SkillLibrary,
  serverLooker,
  type ToolWorker,
} from '../expansion/index.ts';
import type { Models } from '../models/types.ts';
import type { ConfigProposals } from '../proposals/index.ts';
import type { SandboxPorts } from '../sandbox/index.ts';
import { serversServer } from '../tools/servers/index.ts';
import { skillsServer } from '../tools/skills/index.ts';
import { toolsmithServer } from '../tools/toolsmith/index.ts';

export interface ExpansionParts {
  readonly config: () => StewardConfig;
  readonly env: { readonly [name: string]: string | undefined };
  /** Of `sub`. */
  readonly version: string;
  readonly proposals: ConfigProposals;
  readonly skills: SkillLibrary;
  readonly models: Models;
  readonly sandbox: SandboxPorts;
  /** Who writes tools; the model for workers unless given. */
  readonly worker?: ToolWorker;
}

/** Names of `expansionServers`. */
export const EXPANSION = ['skills', 'servers', 'toolsmith'] as const;

/** `runId` is known once the run is open, and asked for by then. */
export function expansionServers(parts: ExpansionParts, runId: () => string): readonly OwnServer[] {
  const { config, env, version, proposals, skills: library, models, sandbox } = parts;
  const { integrations, guardrails, folder } = config();
  const { expansion } = guardrails;
  const { registry: source } = integrations;
  const servers = [
    skillsServer({ library, proposals, runId, mayPropose: expansion.skills }),
    expansion.servers &&
      serversServer({
        ...{ config, proposals, runId, look: serverLooker({ env, version }) },
        registry: source === undefined ? undefined : openRegistry({ source, folder, env }),
      }),
    expansion.tools &&
      toolsmithServer({
        ...{ proposals, runId, ports: sandbox },
        worker: parts.worker ?? modelWorker(models, runId),
      }),
  ];
  return servers.filter((one) => one !== false);
}

/** What these servers are made with. */
export function expansionSettings({ integrations, guardrails }: StewardConfig) {
  return { registry: integrations.registry, expansion: guardrails.expansion };
}
