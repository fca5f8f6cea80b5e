// Ways to a prompt or a resource that are no plain request for one, and methods that nobody knows.
import { describe, expect, it } from 'vitest';
import type { OtherMessage } from '../session/guard.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { answer, callOf, OBSERVED, optionsOf } from './guard.test-support.ts';
import { createGuard } from './guard.ts';

const YAML = `server: mail
allowed_resources: [{ uri: "mail://labels/*" }]
allowed_prompts: [{ name: ok }]
`;
const guardOf = async (more = '') =>
  createGuard(optionsOf({ manifest: await manifestOf(YAML + more) }));
const said = (kind: OtherMessage['kind'], method: string, value: unknown): OtherMessage => ({
  kind,
  method,
  value,
  isError: false,
});
const listen = (...uris: readonly unknown[]) => ({
  notifications: { resourceSubscriptions: uris },
});

describe('under a manifest', () => {
  it.each<readonly [OtherMessage['kind'], string, unknown, string]>([
    ['notification', 'resources/read', { uri: 'mail://secret' }, 'RESOURCE_NOT_LISTED'],
    ['notification', 'prompts/get', { name: 'bad' }, 'PROMPT_NOT_LISTED'],
    ['request', 'resources/unsubscribe', { uri: 'mail://secret' }, 'RESOURCE_NOT_LISTED'],
    [
      'request',
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: { 0: 'mail://x' } } },
      'RESOURCE_NOT_LISTED',
    ],
    ['request', 'tasks/get', { taskId: 'foreign' }, 'TOOL_NOT_LISTED'],
    ['request', 'tasks/result', { taskId: 'foreign' }, 'TOOL_NOT_LISTED'],
    ['request', 'tasks/update', { taskId: 'foreign' }, 'TOOL_NOT_LISTED'],
    ['request', 'tasks/cancel', { taskId: 'foreign' }, 'TOOL_NOT_LISTED'],
    ['request', 'admin/run', { name: 'rm' }, 'METHOD_NOT_LISTED'],
    ['notification', 'x/anything', undefined, 'METHOD_NOT_LISTED'],
    ['request', 'Tools/Call', { name: 'rm' }, 'METHOD_NOT_LISTED'],
    ['request', 'tools/call ', { name: 'rm' }, 'METHOD_NOT_LISTED'],
  ])('a %s %s %j is refused', async (kind, method, value, reason_code) => {
    const guard = await guardOf();
    expect(guard.wants('out', kind, method)).toBe(true);
    expect(guard.passing('out', said(kind, method, value), 0)).toMatchObject({
      kind: 'refused',
      reason_code,
    });
    const manifest = await manifestOf(YAML);
    const free = createGuard(optionsOf({ manifest, enforces: OBSERVED }));
    expect(free.passing('out', said(kind, method, value), 0)).toEqual({ kind: 'same' });
  });

  it('a subscription is opened without the resources that the agent may not read', async () => {
    const guard = await guardOf();
    const notifications = {
      toolsListChanged: true,
      resourceSubscriptions: [
        'mail://x',
        'mail://labels/a',
        { uri: 'mail://x' },
        'mail://labels/../x',
      ],
    };
    const value = { _meta: { a: 1 }, notifications };
    const kept = { ...notifications, resourceSubscriptions: ['mail://labels/a'] };
    expect(guard.passing('out', said('request', 'subscriptions/listen', value), 0)).toEqual({
      kind: 'changed',
      value: { ...value, notifications: kept },
    });
    expect(guard.notices()).toContainEqual(
      expect.objectContaining({ name: 'mail://x', reason_code: 'RESOURCE_NOT_LISTED' }),
    );
    const free = createGuard(optionsOf({ manifest: await manifestOf(YAML), enforces: OBSERVED }));
    const message = said('request', 'subscriptions/listen', value);
    expect(free.passing('out', message, 0)).toEqual({ kind: 'same' });
  });

  it('a task is asked about where its tool may be called', async () => {
    const guard = createGuard(
      optionsOf({
        manifest: await manifestOf(
          'server: mail\nallowed_tools: [{ name: slow }, { name: gone, allowed: false }]\n',
        ),
      }),
    );
    const ask = (tool: string) => {
      const call = { callId: 'c1', tool };
      const message = { ...said('request', 'tasks/get', { taskId: 't' }), call };
      return guard.passing('out', message, 0).kind;
    };
    expect([ask('slow'), ask('gone'), ask('unlisted')]).toEqual(['same', 'refused', 'refused']);
    const open = createGuard(
      optionsOf({ manifest: await manifestOf('server: mail\ndefault: auto_execute\n') }),
    );
    const foreign = said('request', 'tasks/get', { taskId: 'foreign' });
    expect(open.passing('out', foreign, 0)).toEqual({ kind: 'same' });
  });

  it.each<readonly [OtherMessage['kind'], string, unknown]>([
    ['request', 'subscriptions/listen', listen('mail://labels/a')],
    ['request', 'subscriptions/listen', { notifications: { toolsListChanged: true } }],
    ['request', 'resources/unsubscribe', { uri: 'mail://labels/a' }],
  ])('a %s %s %j passes', async (kind, method, value) => {
    const guard = await guardOf();
    expect(guard.passing('out', said(kind, method, value), 0)).toEqual({ kind: 'same' });
  });

  it('methods of the protocol that name nothing pass unseen', async () => {
    const guard = await guardOf();
    for (const method of ['initialize', 'ping', 'tools/list', 'tasks/list', 'logging/setLevel']) {
      expect(guard.wants('out', 'request', method)).toBe(false);
    }
    for (const method of ['notifications/initialized', 'notifications/cancelled']) {
      expect(guard.wants('out', 'notification', method)).toBe(false);
    }
  });

  it('that allows unlisted entries, other methods pass, but none that looks like a known one', async () => {
    const guard = await guardOf('default: auto_execute\n');
    const ask = (method: string) => guard.passing('out', said('request', method, {}), 0).kind;
    expect(ask('admin/run')).toBe('same');
    expect(ask('Tools/Call')).toBe('refused');
  });
});

describe('a name that is written in another way', () => {
  const LENIENT = `server: mail
allowed_tools:
  - name: get_*
  - { name: get_secret, allowed: false }
  - { name: get_money, requires_approval: true }
schema_rewrites:
  get_page: { strip_params: [forward_to] }
`;
  const lenient = async () => createGuard(optionsOf({ manifest: await manifestOf(LENIENT) }));

  it.each([
    'get_Secret',
    'get_secret ',
    'get_secret\0',
    'get_se\u200bcret',
    'get_ｓecret',
    'get_-secret',
  ])('is forbidden as %j when the server does not list it', async (tool) => {
    const guard = await lenient();
    expect(guard.surface(callOf({ tool, args: {} }), 0)).toMatchObject({
      kind: 'stop',
      decision: { reason_code: 'TOOL_FORBIDDEN' },
    });
  });

  it('has the tier and the parameters of the name that is meant', async () => {
    const guard = await lenient();
    expect(guard.surface(callOf({ tool: 'get_Money', args: {} }), 0)).toMatchObject({
      kind: 'stop',
      decision: { reason_code: 'APPROVAL_REQUIRED' },
    });
    const call = callOf({ tool: 'get_Page', args: { forward_to: 'eve' } });
    expect(guard.surface(call, 0)).toMatchObject({
      kind: 'stop',
      decision: { reason_code: 'PARAM_STRIPPED' },
    });
  });

  it('is judged by itself when the server lists it', async () => {
    const guard = await lenient();
    const tool = { name: 'get_Secret', inputSchema: { type: 'object' } };
    guard.passing('in', answer('tools/list', { tools: [tool] }), 0);
    expect(guard.surface(callOf({ tool: 'get_Secret', args: {} }), 0)).toEqual({ kind: 'pass' });
    expect(guard.surface(callOf({ tool: 'get_SECRET', args: {} }), 0).kind).toBe('stop');
  });
});
