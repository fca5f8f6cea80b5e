// Runs of an agent in a home of their own, with the person who decides for them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Bundle,
  isFailure,
  isObject,
  type Rule,
  type TaintSection,
} from '@subluminal/contracts';
import { closed, record, required, string } from '@subluminal/contracts/shape';
import { compileBundle, type Snapshot } from '@subluminal/core/policy';
import { uuidv7 } from 'uuidv7';
import { expect, onTestFinished } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { parseJson } from '../../os/index.ts';
import type { AgentEntry } from '../../services/agent-run/agent-server.ts';
import { type AgentCall, type OwnServer, ownTool } from '../../services/agent-run/index.ts';
import type { CommandServer } from '../../services/serve/config/serve-config.ts';
import { openDesk } from '../../stores/approvals/index.ts';
import { loadConfig } from '../../stores/config/index.ts';
import { startAgentRuns } from '../start-agent-run.ts';

const SCRIPTED = fileURLToPath(new URL('./scripted-server.mjs', import.meta.url));

interface PolicyParts {
  readonly rules?: readonly Rule[];
  readonly taint?: TaintSection;
}

export function policyOf({ rules = [], taint }: PolicyParts = {}): Promise<Snapshot> {
  const bundle: Bundle = {
    policy_id: 'agent',
    version: '1',
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules,
    hint_delivery: 'tool_result',
    ...(taint !== undefined && { taint }),
  };
  // Compiled for development, as the default is: the run enforces it all the same.
  return compileBundle(bundle, { sha256, profile: 'development' });
}

/** A process with the tools of `scripted-server.mjs`. */
export function scripted(name: string): CommandServer {
  const command = [process.execPath, SCRIPTED];
  return { kind: 'command', name, command, env: {}, cwd: tmpdir() };
}

/** A server that reads pages; `pages` are its texts by address. */
export function webServer(pages: { readonly [url: string]: string }): OwnServer {
  const fetch = ownTool({
    name: 'fetch',
    description: 'Reads a page.',
    input: closed({ page: required(string(), 'Its name.') }),
    annotations: { readOnlyHint: true },
    call: ({ page }) => Promise.resolve({ text: pages[page] ?? 'nothing' }),
  });
  return { name: 'web', tools: [fetch] };
}

/** A server that sends mails, and what it has sent, with the keys of the calls. */
export function mailServer(): OwnServer & { readonly sent: string[] } {
  const sent: string[] = [];
  const send = ownTool({
    name: 'send',
    description: 'Sends a mail.',
    input: closed({ to: required(string(), 'The recipient.'), body: required(string(), 'Text.') }),
    annotations: { idempotentHint: true },
    call: ({ to }, { key }) => {
      sent.push(`${key} ${to}`);
      return Promise.resolve({ text: 'sent', structured: { to } });
    },
  });
  const note = ownTool({
    name: 'note',
    description: 'Takes anything.',
    input: closed({ values: required(record(string()), 'Anything.') }),
    call: () => Promise.reject(new Error('out of paper')),
  });
  return { name: 'mail', tools: [send, note], sent };
}

export function callOf(parts: Partial<AgentCall> & Pick<AgentCall, 'server' | 'tool'>): AgentCall {
  const about = { reasoning: 'because', task: 'the task', channel: 'terminal' };
  return { args: {}, key: 'key-1', judgements: [], about, ...parts };
}

export async function agentRuns() {
  const home = mkdtempSync(join(tmpdir(), 'sub-agent-'));
  const events = join(home, 'events.jsonl');
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    SUB_HOME: join(home, '.subluminal'),
    MODEL_API_KEY: 'not for servers',
  };
  const loaded = await loadConfig({ env, cwd: home, flags: { events: `file:${events}` } });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const runs = await startAgentRuns({ loaded, env, cwd: home, agentId: 'steward', warn });
  if (isFailure(runs)) throw new Error(runs.message);
  onTestFinished(async () => {
    await runs.close();
    rmSync(home, { recursive: true, force: true });
  });
  const desk = openDesk({ home: loaded.paths.home, ports: { nowMs: Date.now, uuid: uuidv7 } });
  if (isFailure(desk)) throw new Error(desk.message);
  const pending = () => {
    const all = desk.queue.list({ state: 'pending' });
    return isFailure(all) ? [] : all.found;
  };
  const asked = async () => {
    await expect.poll(() => pending().length).toBe(1);
    const [entry] = pending();
    if (entry === undefined) throw new Error('nobody was asked');
    return entry;
  };
  return {
    warnings,
    asked,
    pending,
    decide: (id: string, state: 'approved' | 'rejected') =>
      desk.decide(id, { state, by: 'ann', channel: 'terminal' }),
    open: async (servers: readonly AgentEntry[], policy: PolicyParts = {}) =>
      runs.open({ policy: await policyOf(policy), policyPaths: [], servers }),
    close: () => runs.close(),
    learnSecret: runs.learnSecret,
    /** What is on record, once all runs have ended. */
    events: (type: string): readonly { readonly [key: string]: unknown }[] =>
      readFileSync(events, 'utf8')
        .split('\n')
        .map((line) => parseJson(line))
        .filter(isObject)
        .filter((event) => event['type'] === type),
  };
}
