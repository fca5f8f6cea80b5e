// A desk in a folder of its own, with a clock that stands still; for tests only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApprovalAgent, type ApprovalCall, isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { homeSeal } from '../../../os/crypto/index.ts';
import { type Desk, openDesk } from '../desk.ts';
import type { GrantedCall } from '../match.ts';

import type { Question } from '../queue.ts';
import { recordSeal } from '../sealed-record.ts';

export const CALL: ApprovalCall = {
  run_id: 'run-1',
  call_id: 'call-1',
  server: 'files',
  tool: 'write_file',
  args_hash: 'a'.repeat(64),
  policy_hash: 'b'.repeat(64),
  rule_id: 'ask-writes',
  args: { path: 'src/main.ts', content: 'x' },
  args_complete: true,
  risk: ['write_like'],
  reason: 'Writing needs a person.',
};
const AGENT: ApprovalAgent = { agent_id: 'coder', client: 'claude', env: 'dev', principal: 'ann' };
export const ME = { by: 'ann', channel: 'terminal' } as const;
export const START_MS = Date.parse('2026-01-31T12:00:00.000Z');

export function question(more: Partial<Question> = {}, call: Partial<ApprovalCall> = {}): Question {
  return {
    call: { ...CALL, ...call },
    agent: AGENT,
    wait: 'hold',
    timeoutMs: 60_000,
    askedBy: { pid: process.pid, start: 'now' },
    ...more,
  };
}

/** The call as it is about to be made. */
export function granted(more: Partial<GrantedCall> = {}): GrantedCall {
  const { run_id, call_id, server, tool, args_hash, policy_hash, rule_id } = CALL;
  const same = { run_id, call_id, server, tool, args_hash, policy_hash, rule_id };
  const args = { path: 'src/main.ts', content: 'x' };
  return { ...same, args, agent: AGENT, ...more };
}

export class Bench {
  readonly home = join(mkdtempSync(join(tmpdir(), 'sub-approvals-')), 'home');
  readonly folder = join(this.home, 'approvals');
  readonly warnings: string[] = [];
  nowMs = START_MS;
  readonly desk: Desk;

  constructor(pollMs = 50) {
    this.desk = this.open(pollMs);
  }

  /** Another process, as far as the files are concerned. */
  open(pollMs = 50): Desk {
    const desk = openDesk({
      home: this.home,
      pollMs,
      ports: {
        nowMs: () => this.nowMs,
        uuid: uuidv7,
        warn: (message) => this.warnings.push(message),
      },
    });
    if (isFailure(desk)) throw new Error(desk.message);
    return desk;
  }

  /** What the files of a folder are signed with. */
  seal(folder: 'approvals' | 'grants') {
    return recordSeal(homeSeal(this.home), folder);
  }

  ask(more: Partial<Question> = {}, call: Partial<ApprovalCall> = {}): string {
    const asked = this.desk.queue.ask(question(more, call));
    if (asked.kind !== 'asked') throw new Error(`not asked: ${JSON.stringify(asked)}`);
    return asked.id;
  }

  /** Where a file of a request is. */
  file(id: string, part = ''): string {
    return join(this.folder, `${id}${part === '' ? '' : `.${part}`}.json`);
  }

  end(): void {
    rmSync(join(this.home, '..'), { recursive: true, force: true });
  }
}
