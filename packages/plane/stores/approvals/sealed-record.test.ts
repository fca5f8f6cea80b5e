// What somebody does who can write into the folders of approvals and grants, and has no key.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyPair } from '../../os/crypto/index.ts';
import { approves } from './desk.ts';
import { Bench, CALL, granted, ME, START_MS } from './testing/bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.end());

const own = { mode: 0o600 };
const grantFile = (id: string) => join(bench.home, 'grants', `${id}.json`);

function always(): string {
  const id = bench.ask();
  const wish = { kind: 'always', args: { kind: 'exact' } } as const;
  const decided = bench.desk.decide(id, { state: 'approved', ...ME, wish });
  if (decided.kind !== 'ended' || decided.grant === null) throw new Error('no grant');
  return decided.grant.id;
}

const isCovered = (desk = bench.open()) =>
  desk.grants.findGrant(granted(), START_MS + 1) !== undefined;

describe('an approval', () => {
  test('that was written into the folder without the key approves nothing', () => {
    const [real, forged] = [bench.ask(), bench.ask()];
    bench.desk.queue.end(real, { state: 'approved', ...ME });
    const entry = bench.desk.queue.get(forged);
    if (entry.kind !== 'request') throw new Error('not there');
    const [line = '', seal = ''] = readFileSync(bench.file(real, 'end'), 'utf8').split('\n');
    const end = { ...(JSON.parse(line) as object), id: forged, request_sha256: entry.sha256 };
    for (const text of [
      `${JSON.stringify(end)}\n`,
      `${JSON.stringify(end)}\n${seal}\n`,
      `${JSON.stringify(end)}\n{}\n`,
      `${JSON.stringify(end)}\n${seal}\n\n`,
    ]) {
      writeFileSync(bench.file(forged, 'end'), text, own);
      const found = bench.open().queue.get(forged);
      expect(found).toMatchObject({ kind: 'damaged' });
      expect(found.kind === 'damaged' && found.why).toMatch(/signed|signature/);
      expect(approves(found as never, { ...CALL, call_id: CALL.call_id })).toBe(false);
    }
  });

  test('that was signed is believed by every process of the home', () => {
    const id = bench.ask();
    bench.desk.queue.end(id, { state: 'approved', ...ME });
    expect(bench.open().queue.get(id)).toMatchObject({ kind: 'request', state: 'approved' });
  });
});

describe('a grant', () => {
  test('that was edited covers nothing', () => {
    const file = grantFile(always());
    expect(isCovered()).toBe(true);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"always"', '"run"'), own);
    expect(isCovered()).toBe(false);
    expect(bench.warnings.join()).toContain('signature does not hold');
  });

  test('that an earlier version wrote without a signature covers nothing', () => {
    const file = grantFile(always());
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${line}\n`, own);
    expect(isCovered()).toBe(false);
    expect(bench.warnings.join()).toContain('not signed');
  });

  test('is not made from a record of another folder or another name', () => {
    const id = always();
    const other = bench.desk.ports.uuid();
    mkdirSync(join(bench.home, 'approvals'), { recursive: true });
    copyFileSync(grantFile(id), grantFile(other));
    rmSync(grantFile(id));
    expect(isCovered()).toBe(false);
  });

  test('that another key has signed covers nothing', () => {
    always();
    writeFileSync(join(bench.home, 'ledger.key'), createKeyPair().privatePem, own);
    expect(isCovered()).toBe(false);
  });

  test('covers nothing while the key is gone, and no other key is made by looking', () => {
    always();
    rmSync(join(bench.home, 'ledger.key'));
    expect(isCovered()).toBe(false);
    expect(() => readFileSync(join(bench.home, 'ledger.key'))).toThrow('ENOENT');
  });
});
