import type { ShimCounts } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import type { HubLimits } from './hub-options.ts';
import { Metrics } from './metrics.ts';
import { RUN } from './testing/scenario.ts';

const PREFIXES = ['subluminal_', 'thoughtgate_stdio_'];
const NOTHING: ShimCounts = {
  profile: 'production',
  server_state: 'running',
  messages: [],
  decisions: [],
  framing_errors: [],
};

function makeHub(limits: Partial<HubLimits> = {}) {
  let nowMs = 0;
  const hub = new Hub({ runId: RUN, nowMs: () => nowMs, sha256, limits });
  const beat = (server_id: string, counts: Partial<ShimCounts>, more: object = {}) =>
    hub.heartbeat({ server_id, run_id: RUN, counts: { ...NOTHING, ...counts }, ...more });
  const lines = () => new Metrics().text(hub).split('\n');
  return { hub, beat, lines, sleep: (ms: number) => (nowMs += ms) };
}

const messages = (method: string, count: number): Pick<ShimCounts, 'messages'> => ({
  messages: [{ direction: 'agent_to_server', method, count }],
});
const messagesOf = (server: string, method: string) =>
  `messages_total{server_id="${server}",direction="agent_to_server",method="${method}"}`;

it('the metrics hold all counts of the shims, under both names', () => {
  verifies('NFR-002.1');
  const { beat, lines } = makeHub();
  beat('files', {
    messages: [
      { direction: 'agent_to_server', method: 'tools/call', count: 3 },
      { direction: 'server_to_agent', method: 'response', count: 2 },
    ],
    decisions: [
      { decision: 'forward', count: 2 },
      { decision: 'deny', count: 1 },
    ],
    framing_errors: [{ error_type: 'duplicate_key', count: 4 }],
  });
  beat('mail', { profile: 'development', decisions: [{ decision: 'WOULD_BLOCK', count: 5 }] });
  const wanted = [
    `${messagesOf('files', 'tools/call')} 3`,
    'messages_total{server_id="files",direction="server_to_agent",method="response"} 2',
    'governance_decisions_total{server_id="files",profile="production",decision="forward"} 2',
    'governance_decisions_total{server_id="files",profile="production",decision="deny"} 1',
    'governance_decisions_total{server_id="mail",profile="development",decision="WOULD_BLOCK"} 5',
    'framing_errors_total{server_id="files",error_type="duplicate_key"} 4',
    'server_state{server_id="files",state="running"} 1',
    'server_state{server_id="files",state="stopped"} 0',
    'approval_latency_seconds_count{server_id="mail"} 0',
    'active_servers 2',
  ];
  for (const prefix of PREFIXES) {
    expect(lines()).toEqual(expect.arrayContaining(wanted.map((line) => `${prefix}${line}`)));
  }
});

it('a counter never goes back: not when a shim leaves, is forgotten, or starts again', () => {
  const { beat, lines } = makeHub({ shimsMax: 1 });
  beat('files', messages('ping', 3), { shim_id: 'a' });
  beat('files', messages('ping', 5), { shim_id: 'a', leaving: true });
  // What comes late changes nothing.
  beat('files', messages('ping', 4), { shim_id: 'a' });
  expect(lines()).toContain(`subluminal_${messagesOf('files', 'ping')} 5`);
  beat('files', messages('ping', 1), { shim_id: 'b' });
  expect(lines()).toContain(`subluminal_${messagesOf('files', 'ping')} 6`);
  expect(lines()).toContain('subluminal_server_state{server_id="files",state="running"} 1');
});

it('the metrics tell servers that run, have ended, never ran and are lost apart', () => {
  const { beat, lines, sleep } = makeHub();
  beat('lost', {});
  sleep(60_000);
  beat('one', {});
  beat('two', { server_state: 'exited' });
  beat('three', { server_state: 'failed' });
  beat('four', {}, { leaving: true });
  const of = (server: string, state: string) =>
    `subluminal_server_state{server_id="${server}",state="${state}"} 1`;
  expect(lines()).toEqual(
    expect.arrayContaining([
      of('lost', 'lost'),
      of('one', 'running'),
      of('two', 'exited'),
      of('three', 'failed'),
      of('four', 'stopped'),
      'subluminal_active_servers 1',
    ]),
  );
});

describe('a name or a label of a shim', () => {
  it('becomes no label but those of the lists', () => {
    const { beat, lines } = makeHub();
    beat('files', {
      ...messages('secret/hunter2', 1),
      decisions: [{ decision: 'hunter2', count: 2 }],
      framing_errors: [{ error_type: 'Hunter 2', count: 3 }],
    });
    expect(lines().join('\n')).not.toMatch(/hunter/i);
    expect(lines()).toContain(`subluminal_${messagesOf('files', 'other')} 1`);
    expect(lines()).toContain(
      'subluminal_framing_errors_total{server_id="files",error_type="other"} 3',
    );
  });

  it('fills the text with so many servers and kinds of errors, and no more', () => {
    const { beat, lines } = makeHub();
    for (let index = 0; index < 100; index++) {
      const framing_errors = [{ error_type: `kind_${index}`, count: 1 }];
      beat(`server-${index}`, messages('ping', 1));
      beat('server-0', { framing_errors }, { shim_id: `shim-${index}` });
    }
    const counted = lines().filter((line) => line.startsWith('subluminal_messages_total{'));
    expect(counted).toHaveLength(65);
    expect(counted).toContain(`subluminal_${messagesOf('(other servers)', 'ping')} 36`);
    const errors = lines().filter((line) => line.startsWith('subluminal_framing_errors_total{'));
    expect(errors).toHaveLength(33);
  });

  it('stays inside its quotes, whatever a server is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (name) => {
        const { beat, lines } = makeHub();
        beat(name, messages('ping', 7));
        const found = lines().filter((line) => line.startsWith('subluminal_messages_total{'));
        expect(found).toHaveLength(1);
        expect(found[0]).toMatch(
          /^subluminal_messages_total\{server_id="(?:[^"\\\p{Cc}]|\\[\\"n])+",direction="agent_to_server",method="ping"\} 7$/u,
        );
      }),
    );
  });

  it('is one line for two names that look the same', () => {
    const { beat, lines } = makeHub();
    beat(`${'x'.repeat(200)}1`, messages('ping', 1));
    beat(`${'x'.repeat(200)}2`, messages('ping', 1));
    const found = lines().filter((line) => line.startsWith('subluminal_messages_total{'));
    expect(found).toEqual([expect.stringMatching(/ 2$/)]);
  });
});
