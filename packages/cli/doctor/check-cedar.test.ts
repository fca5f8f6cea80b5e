import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkCedar } from './check-policies.ts';
import { machineIn, put } from './machine.test-support.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-doctor-cedar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const policies = () => join(folder, 'cedar');
const look = async (env = {}) => checkCedar(await machineIn(folder, env));
const configured = () => look({ SUB_CEDAR_POLICIES: policies() });

describe('Cedar policies', () => {
  test('Cedar policies need not be configured', async () => {
    expect(await look()).toEqual({ level: 'ok', text: 'none are configured' });
  });

  test('missing Cedar policies and an empty folder are broken', async () => {
    const gone = await configured();
    expect(gone).toMatchObject({ level: 'broken' });
    expect(gone.more?.join()).toMatch(/cedar:1:1: error: this does not exist.*\[SUB_CEDAR_FILES\]/);
    mkdirSync(policies());
    const empty = await configured();
    expect(empty).toMatchObject({ level: 'broken' });
    expect(empty.more?.join()).toContain(`${policies()}:1:1: error: there is no policy`);
  });

  test('Cedar policies that cannot be parsed are broken, each with its position', async () => {
    put(join(policies(), 'a.cedar'), 'permit (principal, action, resource)\n');
    const { level, more = [] } = await configured();
    expect(level).toBe('broken');
    expect(more.join('\n')).toMatch(/a\.cedar:\d+:\d+: error: .*\[SUB_CEDAR_SYNTAX\]/);
  });

  test('valid Cedar policies are counted, with the commands that use them', async () => {
    put(join(policies(), 'a.cedar'), 'permit (principal, action, resource);\n');
    const { level, text } = await configured();
    expect(level).toBe('ok');
    expect(text).toContain('1 policy');
    expect(text).toContain('`sub run`');
  });
});
