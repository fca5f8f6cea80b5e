// The pool of sub-agents, bounded and equipped by the configuration as it is now.
import { createRedactor } from '@subluminal/core/scan';
import { uuidv7 } from 'uuidv7';
import { codingAgent, SubAgentPool } from '../agents/index.ts';
import type { LiveStewardConfig } from '../config/index.ts';
import { replyFor } from '../egress/index.ts';
import type { Journal } from '../journal/index.ts';
import type { UsedSecrets } from './used-secrets.ts';

interface SubAgentSources {
  readonly live: LiveStewardConfig;
  readonly journal: Journal;
  readonly secrets: UsedSecrets;
  readonly env: { readonly [name: string]: string | undefined };
  /** The launcher of `sub`. */
  readonly sub: string;
  readonly loaded: { readonly paths: { readonly home: string } };
  readonly log: (line: string) => void;
}

const MINUTE_MS = 60_000;

export function openSubAgents(sources: SubAgentSources): SubAgentPool {
  const { live, journal, secrets, env, sub, loaded, log } = sources;
  const redactor = createRedactor({});
  const redact = (text: string) => replyFor(secrets.redact(text), { isPrivate: true, redactor });
  return new SubAgentPool({
    ...{ journal, uuid: uuidv7, nowMs: Date.now, log },
    limits: () => {
      const { max, timeout_minutes } = live.current().guardrails.sub_agents;
      return { max, timeoutMs: timeout_minutes * MINUTE_MS };
    },
    coding: () => {
      const { integrations, folder } = live.current();
      const { coding: settings } = integrations;
      return (
        settings && codingAgent({ settings, sub, env, closed: [loaded.paths.home, folder], redact })
      );
    },
  });
}
