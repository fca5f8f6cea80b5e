import { describe, expect, it } from 'vitest';
import { openCedar, opened, problemsOf, request, unseen } from './testing/requests.ts';
import type { CedarRequest } from './types.ts';

const ALL = 'permit (principal, action, resource);';
const forbid = (condition: string) => `forbid (principal, action, resource) when { ${condition} };`;

describe('a call', () => {
  it('is denied when no policy permits it', async () => {
    const policies = { admin: 'permit (principal == User::"root", action, resource);' };
    const cedar = opened(await openCedar({ policies }));
    expect(cedar.evaluate(request())).toEqual({
      decision: 'deny',
      cause: 'no_permit',
      reasons: [],
      errors: [],
      policyId: null,
      message: 'No Cedar policy permits this call.',
      hint: null,
      reasonCode: null,
    });
    cedar.close();
  });

  it('is known by its principal, tool, server, group and context', async () => {
    const policies = {
      agent: 'permit (principal == Agent::"coder", action, resource == Tool::"fs::read");',
      user: 'permit (principal in Group::"team", action == Action::"tools/call", resource in Server::"fs");',
      group: 'permit (principal is Workload, action, resource in Group::"safe");',
      context: `permit (principal, action, resource) when {
        context.client == "codex" && context.env == "ci" && context.run == "r" &&
        context has user && context.user == User::"ann" && context.agent == Agent::"coder" &&
        resource.name == "x" && resource.server.name == "y" && context.risk.contains("read")
      };`,
    };
    const entities = [
      { uid: { type: 'Group', id: 'team' }, parents: [{ type: 'Group', id: 'all' }] },
      { uid: { type: 'User', id: 'ann' }, parents: [{ type: 'Group', id: 'team' }] },
      { uid: { type: 'Server', id: 'web' }, parents: [{ type: 'Group', id: 'safe' }] },
    ];
    const cedar = opened(await openCedar({ policies, entities }));
    const reasons = (changes: Partial<CedarRequest>) => cedar.evaluate(request(changes)).reasons;
    expect(reasons({ server: 'fs', tool: 'read' })).toEqual(['agent']);
    const ann = { kind: 'user', id: 'ann' } as const;
    expect(reasons({ principal: ann, server: 'fs', tool: 'any' })).toEqual(['user']);
    expect(reasons({ principal: { kind: 'user', id: 'bob' }, server: 'fs', tool: 'any' })).toEqual(
      [],
    );
    expect(
      reasons({ principal: { kind: 'workload', id: 'w' }, server: 'web', tool: 'get' }),
    ).toEqual(['group']);
    const context = {
      client: 'codex',
      env: 'ci',
      run: 'r',
      user: 'ann',
      server: 'y',
      tool: 'x',
      risk: ['read'],
    };
    expect(reasons(context)).toEqual(['context']);
    cedar.close();
  });

  it('is denied when a policy that might forbid it cannot be evaluated', async () => {
    const schema = 'type Arguments = { path?: String };';
    const policies = {
      all: ALL,
      etc: forbid('context.args has path && context.args.path like "/etc/*"'),
    };
    const cedar = opened(await openCedar({ policies, schema }));
    const answer = cedar.evaluate(request({ args: { path: ['/etc/shadow'] } }));
    expect(answer).toMatchObject({ decision: 'deny', cause: 'forbid_failed', reasons: ['etc'] });
    expect(answer.message).toContain('type error: expected string, got set');
    expect(cedar.explain(request({ args: { path: [1] } })).satisfied.map(({ id }) => id)).toEqual([
      'all',
    ]);
    cedar.close();
  });

  it('passes when only a permit cannot be evaluated and another holds', async () => {
    const schema = 'type Arguments = { n?: Long };';
    const few =
      'permit (principal, action, resource) when { context.args has n && context.args.n < 5 };';
    const cedar = opened(await openCedar({ policies: { all: ALL, few }, schema }));
    expect(cedar.evaluate(request({ args: { n: 'x' } }))).toMatchObject({
      decision: 'allow',
      reasons: ['all'],
      errors: [{ policyId: 'few' }],
    });
    cedar.close();
  });

  it.each<[string, Partial<CedarRequest> | 'unseen', string]>([
    [
      'hidden entities',
      { args: { a: { __entity: { type: 'User', id: 'root' } } } },
      'reserved by Cedar',
    ],
    [
      'hidden functions',
      { args: { a: [{ __extn: { fn: 'ip', arg: '::1' } }] } },
      'reserved by Cedar',
    ],
    ['half a character', { args: { a: '\uD800' } }, 'surrogate'],
    ['half a character in a name', { args: { '\uDC00': 1 } }, 'surrogate'],
    ['too many parts', { args: { a: Array.from({ length: 6_000 }, () => 1) } }, '5000 parts'],
    ['too much text', { args: { a: 'x'.repeat(300_000) } }, 'characters'],
    [
      'too deep a nest',
      { args: JSON.parse(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`) as { a: unknown } },
      'deeper',
    ],
    ['a number without end', { args: { a: Number.POSITIVE_INFINITY } }, 'number'],
    ['something that is no JSON', { args: { a: () => 1 } }, 'no JSON value'],
    ['arguments that nobody saw', 'unseen', 'too large to inspect'],
    ['a server that shares its id', { server: 'a::b' }, '`::`'],
    ['a server that ends in a colon', { server: 'a:' }, '`::`'],
    ['a name that is too long', { run: 'x'.repeat(2_000) }, 'too long'],
    ['no time', { nowMs: Number.NaN }, 'time'],
  ])('is denied with its reason when it has %s', async (_name, changes, why) => {
    const cedar = opened(
      await openCedar({ policies: { all: ALL, flat: forbid('context.flat.hasTag("zz")') } }),
    );
    const answer = cedar.evaluate(changes === 'unseen' ? unseen() : request(changes));
    expect(answer).toMatchObject({ decision: 'deny', cause: 'unmappable' });
    expect(answer.message).toContain(why);
    cedar.close();
  });

  it('needs no arguments where no policy looks at them', async () => {
    const cedar = opened(await openCedar({ policies: { all: ALL } }));
    expect(cedar.evaluate(unseen()).decision).toBe('allow');
    cedar.close();
  });

  it('shows nulls apart, since Cedar has none', async () => {
    const policies = { all: ALL, nulls: forbid('context.nulls.contains("a.b[1]")') };
    const cedar = opened(await openCedar({ policies }));
    expect(cedar.evaluate(request({ args: { a: { b: [1, null] } } })).reasons).toEqual(['nulls']);
    expect(cedar.evaluate(request({ args: { a: { b: [1, 2] } } })).reasons).toEqual(['all']);
    cedar.close();
  });

  it('shows every argument as text by its path, whatever its name', async () => {
    const odd = String.raw`context.flat.hasTag("a.b[0][\"x.y\"]") && context.flat.getTag("a.b[0][\"x.y\"]") == "1.5"`;
    const cedar = opened(await openCedar({ policies: { all: ALL, odd: forbid(odd) } }));
    expect(cedar.evaluate(request({ args: { a: { b: [{ 'x.y': 1.5 }] } } })).reasons).toEqual([
      'odd',
    ]);
    expect(cedar.evaluate(request({ args: { a: { b: [{ x: { y: 1.5 } }] } } })).reasons).toEqual([
      'all',
    ]);
    const proto = JSON.parse('{"__proto__":"1"}') as Record<string, unknown>;
    expect(cedar.evaluate(request({ args: proto })).decision).toBe('allow');
    cedar.close();
  });

  it('cannot be decided by policies that are closed', async () => {
    const cedar = opened(await openCedar({ policies: { all: ALL } }));
    cedar.close();
    cedar.close();
    expect(() => cedar.evaluate(request())).toThrow('closed');
  });
});

describe('policies that cannot be used', () => {
  it.each<[string, Parameters<typeof openCedar>[0], string]>([
    [
      'a slip',
      { policies: { a: 'permit (principal, action, resource) when { 1 == };' } },
      'a:1:50: error: unexpected token `}`',
    ],
    [
      'behind letters of two bytes',
      { policies: { a: `@message("äöü")\n${forbid('contex.env == "x"')}` } },
      'a:2:45: error: invalid member access `contex.env`',
    ],
    [
      'a template',
      { policies: { a: 'permit (principal == ?principal, action, resource);' } },
      '[SUB_CEDAR_SYNTAX]',
    ],
    ['two in one text', { policies: { a: `${ALL} ${ALL}` } }, '[SUB_CEDAR_SYNTAX]'],
    [
      'an unknown type',
      { policies: { a: 'permit (principal == Agnt::"x", action, resource);' } },
      'unrecognized entity type `Agnt`. Did you mean `Agent`? [SUB_CEDAR_POLICY]',
    ],
    [
      'an unknown action',
      { policies: { a: 'permit (principal, action == Action::"call", resource);' } },
      'unrecognized action',
    ],
    [
      'an argument nobody declared',
      { policies: { a: forbid('context.args.path == "x"') } },
      'the argument `path` is not declared in the schema. In the schema, declare it: `type Arguments = { path?: String };`',
    ],
    [
      'an argument misspelt',
      {
        policies: { a: forbid('context.args.pat == "x"') },
        schema: 'type Arguments = { path?: String };',
      },
      'Did you mean `path`? Else declare it',
    ],
    [
      'an argument that may be absent',
      {
        policies: { a: forbid('context.args.path == "x"') },
        schema: 'type Arguments = { path?: String };',
      },
      '[SUB_CEDAR_POLICY]',
    ],
    [
      'a guard that never acts',
      { policies: { all: ALL, a: forbid('context.args has pat && context.args.pat == "x"') } },
      'a:1:1: error: this policy can never forbid anything',
    ],
    ['types that differ', { policies: { a: forbid('context.env == 1') } }, 'not compatible'],
    [
      'a reason code that is no name',
      { policies: { a: `@reason_code("no way")${ALL}` } },
      'the reason code `no way` is no name',
    ],
    ['no policy', { policies: {} }, 'there is no policy'],
    [
      'ids that are the same',
      { policies: { a: `@id("x")${ALL}`, b: `@id("x")${ALL}` } },
      'the id `x` is also that of the policy at a:1',
    ],
    [
      'a schema with a slip',
      { policies: { a: ALL }, schema: 'type Arguments = { path? String };' },
      'schema:1:26: error: unexpected token `String`; expected `:`',
    ],
    [
      'a schema with an unknown type',
      { policies: { a: ALL }, schema: 'type Arguments = {\n  path?: Strin\n};' },
      'schema:2:10: error: failed to resolve type: Strin',
    ],
    [
      'a schema with our types',
      { policies: { a: ALL }, schema: 'entity Server;' },
      '`Server` is declared twice',
    ],
    [
      'a schema with actions',
      { policies: { a: ALL }, schema: 'action "x";' },
      'the action `x` is declared',
    ],
    [
      'entities that are no list',
      { policies: { a: ALL }, entities: {} },
      'the entities are no list',
    ],
    [
      'entities without an id',
      { policies: { a: ALL }, entities: [{}] },
      'the entity 1 has no `uid`',
    ],
    [
      'an entity twice',
      {
        policies: { a: ALL },
        entities: [{ uid: { type: 'User', id: 'a' } }, { uid: { type: 'User', id: 'a' } }],
      },
      'given twice',
    ],
    [
      'an entity of an unknown type',
      { policies: { a: ALL }, entities: [{ uid: { type: 'Usr', id: 'a' } }] },
      '[SUB_CEDAR_ENTITIES]',
    ],
    [
      'an entity in the wrong kind of group',
      {
        policies: { a: ALL },
        entities: [{ uid: { type: 'User', id: 'a' }, parents: [{ type: 'Server', id: 'x' }] }],
      },
      '[SUB_CEDAR_ENTITIES]',
    ],
  ])('are refused with place and fix: %s', async (_name, texts, expected) => {
    const result = await openCedar(texts);
    expect(result.ok).toBe(false);
    expect(problemsOf(result).join('\n')).toContain(expected);
  });

  it('are reported all at once', async () => {
    const result = await openCedar({ policies: { a: 'permit', b: 'forbid', c: ALL } });
    expect(problemsOf(result)).toHaveLength(2);
  });

  it('are warned of, and used, when a policy can never hold or an annotation is misspelt', async () => {
    const never = 'permit (principal, action, resource) when { false };';
    const result = await openCedar({ policies: { never, all: `@mesage("x")${ALL}` } });
    expect(result.ok).toBe(true);
    expect(problemsOf(result).join('\n')).toMatch(/warning: .*impossible/);
    expect(problemsOf(result).join('\n')).toContain('did you mean `@message`?');
    opened(result).close();
  });
});

describe('the hash', () => {
  it('changes with policies, schema and entities, and not with their order', async () => {
    const b = forbid('context.env == "x"');
    const hashes = await Promise.all(
      [
        { policies: { a: ALL, b } },
        { policies: { b, a: ALL } },
        { policies: { a: ALL, b: forbid('context.env == "y"') } },
        { policies: { a: ALL, b }, schema: 'type Arguments = { x?: Long };' },
        { policies: { a: ALL, b }, entities: [{ uid: { type: 'Group', id: 'g' } }] },
      ].map(async (texts) => opened(await openCedar(texts)).hash),
    );
    expect(hashes[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(4);
  });
});
