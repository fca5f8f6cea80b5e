// The pool of sub-agents, bounded by guardrails.yaml as it is now.
import { uuidv7 } from 'uuidv7';
import { SubAgentPool } from '../agents/index.ts';
import type { LiveStewardConfig } from '../config/index.ts';
import type { Journal } from '../journal/index.ts';

interface SubAgentSources {
  readonly live: LiveStewardConfig;
  readonly journal: Journal;
  readonly log: (line: string) => void;
}

const MINUTE_MS = 60_000;

export function openSubAgents({ live, journal, log }: SubAgentSources): SubAgentPool {
  return new SubAgentPool({
    ...{ journal, uuid: uuidv7, nowMs: Date.now, log },
    limits: () => {
      const { max, timeout_minutes } = live.current().guardrails.sub_agents;
      return { max, timeoutMs: timeout_minutes * MINUTE_MS };
    },
    coding: () => undefined,
  });
}
