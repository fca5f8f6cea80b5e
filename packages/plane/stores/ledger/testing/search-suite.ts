// Searching calls by their names, paths, arguments and ids, as tests.
import { expect, it } from 'vitest';
import type { CallFilter } from '../store/query.ts';
import { Shim } from './events.ts';
import { expectProven, ids, type OpenStore, open } from './suite-tools.ts';

export function searchSuite(openStore: OpenStore): void {
  it('finds calls by globs of names, by who started the run and by who approved', async () => {
    const ledger = await open(openStore);
    const mia = new Shim('m', { run: 'run-m', server: 'files', tool: 'write', principal: 'mia@a' });
    const other = { server: 'file-x', tool: 'read', principal: 'ci:7', client: 'codex' } as const;
    const bot = new Shim('b', { run: 'run-b', ...other });
    const approved = { rule_id: 'ask', state: 'approved', by: 'ada', channel: 'terminal' } as const;
    await ledger.ingest([
      mia.runStart(),
      ...mia.call('m1'),
      mia.approval('m1', { rule_id: 'ask', state: 'asked' }),
      mia.approval('m1', approved),
      mia.approval('m1', { ...approved, rule_id: 'gate', by: 'bob' }),
      ...mia.call('m2'),
      mia.approval('m2', { ...approved, state: 'rejected', by: 'ada' }),
      bot.runStart(),
      ...bot.call('b1'),
    ]);
    const found = async (filter: CallFilter) =>
      ids(await ledger.store.calls(filter, {})).toSorted();
    expect(await found({ serverName: { glob: 'file*' } })).toEqual(['b1', 'm1', 'm2']);
    expect(await found({ serverName: { glob: 'file?' } })).toEqual(['m1', 'm2']);
    expect(await found({ toolName: { glob: '{read,list}' } })).toEqual(['b1']);
    // Without the signs of a glob, a name is only itself.
    expect(await found({ toolName: 'wri*' })).toEqual([]);
    expect(await found({ principal: 'mia@a' })).toEqual(['m1', 'm2']);
    expect(await found({ principal: { glob: 'ci:*' } })).toEqual(['b1']);
    expect(await found({ clientsExcept: ['codex'] })).toEqual(['m1', 'm2']);
    expect(await found({ clientsExcept: ['claude', 'custom'] })).toEqual(['b1']);
    expect(await found({ clientsExcept: [] })).toEqual(['b1', 'm1', 'm2']);
    expect(await found({ approvedBy: 'ada' })).toEqual(['m1']);
    expect(await found({ approvedBy: { glob: 'b*' }, toolName: 'write' })).toEqual(['m1']);
    expect(await found({ approvedBy: 'ada', toolName: 'read' })).toEqual([]);
    const { rows } = await ledger.store.calls({ runId: 'run-m' }, {});
    expect(
      rows.map(({ principal, client, approved_by }) => ({ principal, client, approved_by })),
    ).toEqual([
      { principal: 'mia@a', client: 'claude', approved_by: [] },
      { principal: 'mia@a', client: 'claude', approved_by: ['ada', 'bob'] },
    ]);
    await expect(ledger.store.calls({ toolName: { glob: '[' } }, {})).rejects.toMatchObject({
      code: 'SUB_LEDGER_QUERY',
    });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('finds calls by a path, however it is written, and by values of arguments', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('p', { run: 'run-p', folder: '/repo/app' });
    const calls: { readonly [id: string]: unknown } = {
      absolute: { path: '/repo/app/src/x.ts' },
      relative: { file_path: 'src/x.ts' },
      dotted: { path: '/repo/app/lib/../src/./x.ts' },
      uri: { uri: 'file:///repo/app/src/x%2ets' },
      nested: { edits: [{ path: 'src/x.ts', text: 'y' }] },
      command: { command: 'cat src/x.ts | wc -l' },
      moved: { command: 'cd src && rm x.ts' },
      option: { args: ['--file=src/x.ts', '-v'] },
      place: { location: 'src/x.ts:12:5' },
      neighbour: { path: 'src/x.tsx' },
      elsewhere: { path: '/other/src/x.ts' },
      prose: { path: 'README.md', content: 'See src/x.ts.' },
      address: { url: 'https://example.com/repo/app/src/x.ts' },
      home: { path: '~/notes/x.ts' },
      mail: { to: ['ada@example.com', 'bob@example.com'], options: { urgent: true, 'a.b': 3 } },
    };
    await ledger.ingest([
      shim.runStart(),
      ...Object.entries(calls).flatMap(([id, args]) => shim.callWith(id, args)),
      shim.start('escaped', {
        preview: { truncated: false, args_preview: String.raw`{"path":"src\/x\u002ets"}` },
      }),
      shim.start('cut', {
        preview: { truncated: true, args_preview: '{"path":"src/x.ts","content":"abc\\' },
      }),
      shim.start('cut-before', { preview: { truncated: true, args_preview: '{"content":"ab' } }),
      shim.start('not-kept', { preview: { truncated: true } }),
    ]);
    const place = { home: '/home/me', folder: '/repo/app' };
    const named = async (path: string) =>
      ids(await ledger.store.calls({ path: { ...place, paths: [path] } }, {})).toSorted();
    const written = [
      'absolute',
      'command',
      'cut',
      'dotted',
      'escaped',
      'moved',
      'nested',
      'option',
    ];
    const all = [...written, 'place', 'relative', 'uri'];
    expect(await named('/repo/app/src/x.ts')).toEqual(all);
    expect(await named('/repo/app/src')).toEqual([...all, 'neighbour'].toSorted());
    expect(await named('/home/me')).toEqual(['home']);
    expect(await named('/other')).toEqual(['elsewhere']);
    const path = { ...place, paths: ['/repo/app/src/x.ts'] };
    expect(await ledger.store.calls({ path }, {})).toMatchObject({ unseen: 2, next: null });

    const withArg = async (name: string, glob: string) =>
      ids(await ledger.store.calls({ args: [{ name, glob }] }, {})).toSorted();
    expect(await withArg('to', 'bob@*')).toEqual(['mail']);
    expect(await withArg('options.urgent', 'true')).toEqual(['mail']);
    expect(await withArg('options.a.b', '3')).toEqual(['mail']);
    expect(await withArg('edits.path', '*.ts')).toEqual(['nested']);
    expect(await withArg('path', '*/x.ts')).toEqual([
      'absolute',
      'cut',
      'dotted',
      'elsewhere',
      'escaped',
      'home',
    ]);
    expect(await withArg('path', 'x.ts')).toEqual([]);
    await ledger.close();
  });

  it('finds relative names of a run without a repository below the folder that is asked for', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('n', { run: 'run-n' });
    await ledger.ingest([shim.runStart(), ...shim.callWith('relative', { path: 'src/x.ts' })]);
    const named = async (path: string) =>
      ids(await ledger.store.calls({ path: { paths: [path], home: '/h', folder: '/a/app' } }, {}));
    expect(await named('/a/app/src')).toEqual(['relative']);
    expect(await named('/a/app')).toEqual(['relative']);
    expect(await named('/a')).toEqual(['relative']);
    expect(await named('/b')).toEqual([]);
    await ledger.close();
  });

  it('finds names that JSON writes with escapes', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('e', { run: 'run-e' });
    await ledger.ingest([
      ...shim.callWith('quote', { 'a"b': 'x' }),
      ...shim.callWith('tab', { path: '/a/b\tc' }),
    ]);
    const page = await ledger.store.calls({ args: [{ name: 'a"b', glob: 'x' }] }, {});
    expect(ids(page)).toEqual(['quote']);
    const path = { paths: ['/a/b\tc'], home: '/h', folder: '/' };
    expect(ids(await ledger.store.calls({ path }, {}))).toEqual(['tab']);
    await ledger.close();
  });

  it('pages through calls that are found by their arguments', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('q', { run: 'run-q' });
    const args = (n: number) => ({ path: n % 2 === 0 ? '/a/x' : '/a/y' });
    await ledger.ingest(
      Array.from({ length: 20 }, (_, n) => shim.callWith(`c${n}`, args(n))).flat(),
    );
    const path = { paths: ['/a/x'], home: '/h', folder: '/' };
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 9; pages++) {
      const request = { limit: 3, withArgs: true, ...(cursor !== undefined && { cursor }) };
      const page = await ledger.store.calls({ path }, request);
      seen.push(...ids(page));
      for (const row of page.rows) expect(row.args_preview).toBe('{"path":"/a/x"}');
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(seen).toEqual([18, 16, 14, 12, 10, 8, 6, 4, 2, 0].map((n) => `c${n}`));
    await ledger.close();
  });

  it('finds a call by a part of its id', async () => {
    const ledger = await open(openStore);
    await ledger.ingest([
      ...new Shim('r', { run: 'r1' }).call('aa-1'),
      ...new Shim('s', { run: 'r2' }).call('aa-2'),
    ]);
    const named = (id: string) => ledger.store.callsNamed(id, { limit: 9 });
    expect(await named('aa-2')).toEqual([{ run_id: 'r2', call_id: 'aa-2' }]);
    expect(await named('-1')).toEqual([{ run_id: 'r1', call_id: 'aa-1' }]);
    expect(await named('aa')).toHaveLength(2);
    expect(await named('a-')).toEqual([]);
    // The newest call that fits is one of the other run.
    expect(await ledger.store.callsNamed('aa', { limit: 1, runId: 'r1' })).toEqual([
      { run_id: 'r1', call_id: 'aa-1' },
    ]);
    await ledger.close();
  });
}
